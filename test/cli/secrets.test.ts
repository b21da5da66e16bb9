import { expect, test } from 'vitest'
import { secretsOf } from '../../src/cli/secrets.ts'

test('the values of keys are taken out of what is kept, short ones too, but no word that only fills the place of one', () => {
  const env = { OPENAI_API_KEY: 'sk-test-123', GH_TOKEN: 'abcdefghijkl', A_TOKEN: 'lm-studio', B_API_KEY: 'ollama', C_API_KEY: 'none1', PATH: '/usr/bin:/bin:12345678' }
  expect(secretsOf(env, {})).toEqual(['sk-test-123', 'abcdefghijkl'])
})
