import { execFile, execFileSync } from 'node:child_process'
import { createServer as createHttp, request as httpRequest } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { connect, type AddressInfo } from 'node:net'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { proxyFor } from '../../src/model/transport.ts'
import { startModelServer } from '../support/model-server.ts'
import { ask, modelsOf, textOf, user } from '../support/model-asks.ts'

const at = (url: string): URL => new URL(url)

describe('which proxy', () => {
  const environment = { HTTPS_PROXY: 'http://user:secret@proxy.example:3128', HTTP_PROXY: 'http://plain.example:8080', NO_PROXY: 'localhost,.test:8443,internal.example, *.corp' }

  test.each([
    ['https://api.example/v1', 'http://user:secret@proxy.example:3128/'],
    ['http://api.example/v1', 'http://plain.example:8080/'],
    ['https://a.test:8443/v1', undefined],
    ['https://a.test/v1', 'http://user:secret@proxy.example:3128/'],
    ['https://test:8443/v1', undefined],
    ['https://internal.example/v1', undefined],
    ['https://a.internal.example/v1', undefined],
    ['https://notinternal.example/v1', 'http://user:secret@proxy.example:3128/'],
    ['https://x.y.corp/v1', undefined],
    ['http://localhost:11434/v1', undefined],
    ['http://127.0.0.1:1234/v1', undefined],
    ['http://[::1]:1234/v1', undefined],
  ])('%s', (url, expected) => {
    const proxy = proxyFor(at(url), environment)
    expect(proxy && 'proxy' in proxy ? proxy.proxy.href : proxy).toBe(expected)
  })

  test('lower case goes before upper case, all_proxy stands in, * is everything', () => {
    expect(proxyFor(at('https://a.example'), { https_proxy: 'low.example:1', HTTPS_PROXY: 'http://high.example:2' })).toEqual({ proxy: at('http://low.example:1/') })
    expect(proxyFor(at('https://a.example'), { ALL_PROXY: 'http://all.example:3' })).toEqual({ proxy: at('http://all.example:3') })
    expect(proxyFor(at('https://a.example'), { ...environment, NO_PROXY: '*' })).toBeUndefined()
  })

  test('an unsupported kind is named, without its credentials', async () => {
    const proxy = proxyFor(at('https://a.example/v1'), { HTTPS_PROXY: 'socks5://me:secret@proxy.example:1080' })
    expect(proxy).toEqual({ unsupported: 'The proxy socks5://proxy.example:1080 is of a kind that Tiller cannot use. Set HTTPS_PROXY to an http:// or https:// proxy, or add a.example to NO_PROXY.' })
    const models = modelsOf({ providers: { chat: { type: 'openai-compatible', baseURL: 'https://a.example/v1', apiKey: 'k' } } as never }, { environment: { HTTPS_PROXY: 'socks5://me:secret@proxy.example:1080' } })
    expect((await ask(await models.get('chat/m'), { messages: [user('go')] })).fault).toMatchObject({ kind: 'bad-request', message: expect.stringContaining('socks5://proxy.example:1080') as string })
    await expect(models.mustBeUsable('chat/m')).rejects.toThrow('socks5://proxy.example:1080')
  })
})

/** A proxy that notes where it was asked to go: CONNECT for https, whole addresses for http. */
async function startProxy(target: number): Promise<{ url: string; seen: string[]; close: () => Promise<void> }> {
  const seen: string[] = []
  const server = createHttp((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`)
    const onward = httpRequest({ host: '127.0.0.1', port: target, path: at(request.url ?? '').pathname, method: request.method ?? 'GET', headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(onward)
  })
  server.on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url} ${request.headers['proxy-authorization'] ?? ''}`)
    const onward = connect(target, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    for (const end of [socket, onward]) end.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, seen, close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))) }
}

test('P23: a request goes through HTTP_PROXY, with its credentials, which no message shows', async () => {
  await using server = await startModelServer([{ text: 'through' }])
  const proxy = await startProxy(server.port)
  const environment = { HTTP_PROXY: proxy.url.replace('//', '//me:secret@') }
  const models = modelsOf({ providers: { chat: { type: 'openai-compatible', baseURL: 'http://model.invalid/v1', apiKey: 'k' } } as never }, { environment })
  const asked = await ask(await models.get('chat/m'), { messages: [user('go')] })
  expect(textOf(asked.end.parts)).toBe('through')
  expect(proxy.seen).toEqual([`POST http://model.invalid/v1/chat/completions Basic ${Buffer.from('me:secret').toString('base64')}`])
  await proxy.close()
  const failed = await ask(await modelsOf({ providers: { chat: { type: 'openai-compatible', baseURL: 'http://model.invalid/v1', apiKey: 'k' } } as never }, { environment }).get('chat/m'), { messages: [user('go')] })
  expect(failed.fault).toMatchObject({ kind: 'network', message: expect.stringContaining(`model.invalid through the proxy ${at(proxy.url).host}`) as string })
  expect(failed.fault?.message).not.toContain('secret')
})

describe('https', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tiller-tls-'))
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  let made = false
  beforeAll(() => {
    try {
      execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', keyFile, '-out', certFile, '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,DNS:model.invalid'], { stdio: 'ignore' })
      made = true
    } catch {
      // No openssl here: the tests below say that they were skipped.
    }
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** Speaks TLS in front of a model server. */
  async function secure(target: number): Promise<{ port: number; close: () => Promise<void> }> {
    const server = createHttps({ key: readFileSync(keyFile), cert: readFileSync(certFile) }, (request, response) => {
      request.pipe(httpRequest({ host: '127.0.0.1', port: target, path: request.url ?? '/', method: request.method ?? 'GET', headers: request.headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { port: (server.address() as AddressInfo).port, close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))) }
  }

  test('a certificate that nobody vouches for is refused, with what to do', async ({ skip }) => {
    skip(!made, 'openssl is not installed')
    await using server = await startModelServer([{ text: 'x' }])
    const tls = await secure(server.port)
    const asked = await ask(await modelsOf({ providers: { chat: { type: 'openai-compatible', baseURL: `https://localhost:${tls.port}/v1` } } as never }).get('chat/m'), { messages: [user('go')] })
    expect(asked.fault).toMatchObject({ kind: 'network', message: expect.stringContaining('NODE_EXTRA_CA_CERTS') as string })
    await tls.close()
  })

  test('NODE_EXTRA_CA_CERTS makes it good, directly and through CONNECT of a proxy', async ({ skip }) => {
    skip(!made, 'openssl is not installed')
    await using server = await startModelServer([{ text: 'direct' }, { text: 'tunnel' }])
    const tls = await secure(server.port)
    const proxy = await startProxy(tls.port)
    const script = join(folder, 'ask.mts')
    writeFileSync(script, `
      import { ask, modelsOf, textOf, user } from '${new URL('../support/model-asks.ts', import.meta.url).pathname}'
      for (const [host, environment] of ${JSON.stringify([[`localhost:${tls.port}`, {}], ['model.invalid', { HTTPS_PROXY: proxy.url }]])}) {
        const models = modelsOf({ providers: { chat: { type: 'openai-compatible', baseURL: 'https://' + host + '/v1', apiKey: 'k' } } }, { environment })
        const asked = await ask(await models.get('chat/m'), { messages: [user('go')] })
        console.log(asked.fault?.message ?? textOf(asked.end.parts))
      }
    `)
    // Node reads the variable when it starts, so it takes a process of its own.
    const { stdout } = await promisify(execFile)(process.execPath, [script], { env: { ...process.env, NODE_EXTRA_CA_CERTS: certFile } })
    expect(stdout).toBe('direct\ntunnel\n')
    expect(proxy.seen).toEqual(['CONNECT model.invalid:443 '])
    await Promise.all([tls.close(), proxy.close()])
  })
})

test('offline nothing leaves this machine', async () => {
  await using server = await startModelServer([{ text: 'near' }])
  const providers = { ...server.providers, far: { type: 'anthropic', baseURL: 'https://api.anthropic.com', apiKey: 'k' } } as never
  const models = modelsOf({ providers }, { offline: true })
  expect(textOf((await ask(await models.get('chat/m'), { messages: [user('go')] })).end.parts)).toBe('near')
  expect((await ask(await models.get('far/claude-opus-5'), { messages: [user('go')] })).fault).toMatchObject({ kind: 'bad-request', message: expect.stringContaining('Offline: api.anthropic.com') as string })
})
