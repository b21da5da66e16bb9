import fc from 'fast-check'
import { expect, test } from 'vitest'
import { redactor } from '../../src/core/redact-stream.ts'
import { redact } from '../../src/core/redact.ts'

const TOKEN = ['ghp_', 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1b2C'].join('')
const PEM = ['-----BEGIN RSA PRIVATE', ` KEY-----\n${'MIIEabc123DEF456'.repeat(4)}\n${'xyz789ABC012'.repeat(5)}==\n-----END RSA PRIVATE`, ' KEY-----'].join('')
const AWS = `aws_secret_access_key = ${'aB3dE5gH7j'.repeat(4)}`
const KNOWN = 'a-configured-secret-0123'

const piece = fc.oneof(fc.constantFrom(TOKEN, PEM, AWS, KNOWN, '\n', '\r\n', ' ', '-----BEGIN CERTIFICATE-----\n', 'sk-', 'token='), fc.string({ maxLength: 12 }))

test('whatever the pieces are that a text arrives in, it is redacted as it is as a whole', () => {
  fc.assert(fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(400), { maxLength: 12 }), (pieces, cuts) => {
    const text = pieces.join('')
    const { write, end } = redactor([KNOWN])
    let said = ''
    let from = 0
    for (const cut of [...cuts].sort((a, b) => a - b)) {
      said += write(text.slice(from, cut))
      from = Math.max(from, cut)
    }
    said += write(text.slice(from)) + end()
    for (const secret of [TOKEN, KNOWN, 'MIIEabc123DEF456', 'aB3dE5gH7jaB3dE5gH7j']) if (!redact(text, [KNOWN]).includes(secret)) expect(said).not.toContain(secret)
    if (!/[\r\n]/.test(text)) expect(said).toBe(redact(text, [KNOWN]))
  }), { numRuns: 500 })
})

test('text without a secret comes through to the letter, whole lines and words at once', () => {
  const { write, end } = redactor()
  expect(write('one\ntwo three')).toBe('one\ntwo ')
  expect(write(' four\r')).toBe('three four\r')
  expect(write('five') + end()).toBe('five')
})

test('a line without an end does not fill the memory, nor does a key without one', () => {
  const { write, end } = redactor()
  const [line, key] = ['x'.repeat(300_000), `-----BEGIN PRIVATE KEY-----\n${'no key at all\n'.repeat(20_000)}`]
  expect(write(line).length).toBeGreaterThan(200_000)
  expect(write(key).length).toBeGreaterThan(200_000)
  expect(end().length).toBeLessThan(70_000)
})
