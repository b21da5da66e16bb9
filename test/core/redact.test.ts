import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isRedacted, redact, redactDeep } from '../../src/core/redact.ts'

/** Made up, of the right form. Put together here so that no scanner takes this file for a leak. */
const made = (prefix: string, length: number, alphabet = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z'): string => prefix + Array.from({ length }, (_, index) => alphabet[(index * 7 + length) % alphabet.length]).join('')
const HEX = '0123456789abcdef'
const PEM = ['-----BEGIN RSA PRIVATE', ` KEY-----\n${made('MII', 64)}\n${made('', 64)}\n${made('', 20)}==\n-----END RSA PRIVATE`, ' KEY-----'].join('')

const secrets: Record<string, string> = {
  'an OpenAI key': made('sk-', 48),
  'an OpenAI project key': made('sk-proj-', 80, 'aB3_E5-H7jK9mN1pQ2rS'),
  'an Anthropic key': made('sk-ant-api03-', 93, 'aB3dE5-H7jK_mN1pQ2rS'),
  'an OpenRouter key': made('sk-or-v1-', 64, HEX),
  'a GitHub token': made('ghp_', 36),
  'a GitHub app token': made('ghs_', 36),
  'a fine-grained GitHub token': made('github_pat_', 82, 'aB3dE_5gH7jK9'),
  'a GitLab token': made('glpat-', 20),
  'an AWS key id': ['AKIA', 'IOSFODNN7EXAMPLE'].join(''),
  'a Slack token': made('xoxb-', 40, '0123456789-aB3'),
  'a Google key': made('AIza', 35),
  'a Stripe key': made('sk_live_', 24),
  'an npm token': made('npm_', 36),
  'a Hugging Face token': made('hf_', 34),
  'a Groq key': made('gsk_', 52),
  'a SendGrid key': `${made('SG.', 22)}.${made('', 43)}`,
  'a Telegram bot token': `123456789:AA${made('', 33)}`,
  'a JWT': `${made('eyJ', 30)}.${made('eyJ', 60)}.${made('', 43)}`,
  'a private key': PEM,
}

test.each(Object.entries(secrets))('%s is redacted wherever it stands', (_, secret) => {
  for (const [before, after] of [['', ''], ['key=', '\n'], ['"', '"'], ['Bearer ', ' and more'], ['\n', ','], ["{'a': '", "'}"]] as const) {
    const clean = redact(`${before}${secret}${after}`)
    expect(clean).not.toContain(secret)
    expect(clean).not.toContain(secret.slice(-12))
    expect(isRedacted(clean)).toBe(true)
    expect(clean.startsWith(before.trimEnd()) && clean.endsWith(after)).toBe(true)
  }
})

test.each([
  [`aws_secret_access_key = ${made('', 40)}`, 'aws_secret_access_key = [redacted:aws-secret]'],
  [`"SecretAccessKey": "${made('', 40)}",`, '"SecretAccessKey": "[redacted:aws-secret]",'],
  ['postgres://app:s3cr3tpw99@db.example.com/x', 'postgres://app:[redacted:password]@db.example.com/x'],
  ['https://user:gh0stT0ken99@github.com/a/b.git', 'https://user:[redacted:password]@github.com/a/b.git'],
  [`Authorization: Basic ${made('', 24)}=`, 'Authorization: Basic [redacted:authorization]'],
  [`-H 'x-api-key: ${made('', 30)}'`, "-H 'x-api-key: [redacted:authorization]'"],
  [`DB_PASSWORD=${made('', 24)}\nPORT=1`, 'DB_PASSWORD=[redacted:secret]\nPORT=1'],
  [`//registry.npmjs.org/:_authToken=${made('', 36)}`, '//registry.npmjs.org/:_authToken=[redacted:npm-token]'],
  [`{"private_key": "${PEM.replaceAll('\n', '\\n')}\\n", "id": 1}`, '{"private_key": "[redacted:private-key]\\n", "id": 1}'],
])('only the secret goes: %#', (text, clean) => {
  expect(redact(text)).toBe(clean)
})

test('a private key that was cut off goes as far as it goes, and the text behind it stays', () => {
  const cut = PEM.slice(0, 130)
  expect(redact(PEM.slice(0, 105))).toBe('[redacted:private-key]')
  expect(redact(`before\n${cut}`)).toBe('before\n[redacted:private-key]')
  expect(redact(`before\n${cut}\n[12 lines left out] {x}`)).toBe('before\n[redacted:private-key]\n[12 lines left out] {x}')
  expect(redact(`${cut}\nand these words are not of it`)).toBe('[redacted:private-key]\nand these words are not of it')
})

test.each([
  'const token = getTokenFromHeader(request)',
  'class="sk-estimator-doc-link-wrapper-fitted sk-toggleable__label"',
  'sk-learn-contrib/hdbscan-plus-some-long-words',
  'API_KEY=${API_KEY}',
  'API_KEY=process.env.SOME_LONG_VARIABLE_NAME_2',
  'export GITHUB_TOKEN=$(gh auth token)',
  'PASSWORD=your-password-here-please-1234',
  'postgres://user:password@localhost:5432/db',
  'postgres://${USER}:${PASSWORD}@host/db',
  'http://localhost:8080/path@2x.png',
  'Authorization: Bearer <token>',
  'Authorization: Bearer ${process.env.TOKEN_NUMBER_ONE}',
  'see ssh://git@github.com:22/a/b.git and mailto:a@b.example',
  '"integrity": "sha512-oZ3Xs5hF0a9xW2ys7lJqk0ZqkK7YVx2x1o9VhWkqk1mB3h2w5l8Yp4b7y9c=="',
  'commit 5060435aa1cff945c2d23a4c016a719942ce592d',
  'eyJhbGciOiJIUzI1NiJ9 is the head of a JWT',
  '-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkq\n-----END PUBLIC KEY-----',
  '-----BEGIN CERTIFICATE-----\nMIIBIjANBgkq\n-----END CERTIFICATE-----',
  "if (text.startsWith('-----BEGIN PRIVATE KEY-----')) return",
  'MAX_TOKEN=4096', 'xoxo-hugs-and-kisses', 'glpat-', 'AKIAlmost', 'the npm_config_registry variable', 'npm_lifecycle_event',
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk',
])('ordinary text stays: %s', (text) => {
  expect(redact(text)).toBe(text)
})

test('the sources, tests and dependencies of this very project hold nothing that would be redacted', () => {
  const root = new URL('../../', import.meta.url).pathname
  const files = ['src', 'scripts', 'node_modules/zod', 'node_modules/react', 'node_modules/execa', 'node_modules/commander', 'node_modules/fast-check']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(root, folder, name)))
    .filter((file) => /\.(?:[cm]?[jt]sx?|md|json)$/.test(file) && !/redact\.ts$|\/tests\//.test(file))
  expect(files.length).toBeGreaterThan(300)
  const changed = files.filter((file) => {
    const text = readFileSync(file, 'utf8')
    return redact(text) !== text
  })
  expect(changed).toEqual([])
})

test('configured keys are redacted whatever their form', () => {
  expect(redact('a my-own-key-1 b', ['my-own-key-1', ''])).toBe('a [redacted:configured-key] b')
})

test('redacting twice changes nothing more, and every text costs about its length', () => {
  fc.assert(fc.property(fc.array(fc.constantFrom(...Object.values(secrets), ' ', '\n', 'sk-', '://', ':', '@', 'a', '-----BEGIN PRIVATE KEY-----', 'API_KEY='), { maxLength: 20 }), (parts) => {
    const once = redact(parts.join(''))
    expect(redact(once)).toBe(once)
  }))
  for (const unit of ['-----BEGIN PRIVATE KEY-----', 'sk-', 'a://b:', 'A_KEY', 'API_KEY', 'eyJ', 'eyJaaaaaaaaaaa.', 'x-api-key:', 'authorization: bearer ', 'AWS_', 'xoxb-', '1', 'aws_secret_access_key=', ' ', '-----BEGIN PRIVATE KEY-----\n(']) {
    const text = unit.repeat(Math.ceil(200_000 / unit.length))
    const began = performance.now()
    redact(text)
    expect(performance.now() - began, unit).toBeLessThan(2_000)
  }
})

test('opaque provider state is not touched, every other text in a record is', () => {
  const key = secrets['a GitHub token'] ?? ''
  const record = { type: 'reply', parts: [{ type: 'text', text: key, opaque: { by: 'a', data: { deep: key } } }, { input: { command: `echo ${key}` } }], n: 1, none: null }
  expect(redactDeep(record)).toEqual({
    type: 'reply', n: 1, none: null,
    parts: [{ type: 'text', text: '[redacted:github-token]', opaque: { by: 'a', data: { deep: key } } }, { input: { command: 'echo [redacted:github-token]' } }],
  })
})
