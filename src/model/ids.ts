import { randomBytes } from 'node:crypto'
import type { ModelRequest } from '../core/ports.ts'
import { isObject } from './server-error.ts'

/** A provider's id of a call stays where it is safe and new, for some servers call every call `call_0`. `issued` is what this process gave out. */
export function createIdFor(request: ModelRequest, issued: Set<string>): (provider: string) => string {
  const taken = new Set<string>()
  for (const message of request.messages) {
    if (message.role !== 'assistant') continue
    for (const part of message.parts) {
      if (part.type !== 'call') continue
      taken.add(part.id)
      if (isObject(part.opaque?.data) && typeof part.opaque.data['id'] === 'string') taken.add(part.opaque.data['id'])
    }
  }
  const given = new Map<string, string>()
  return (provider) => {
    const known = given.get(provider)
    if (known !== undefined) return known
    const id = /^[A-Za-z0-9_-]{1,64}$/.test(provider) && !taken.has(provider) && !issued.has(provider) ? provider : `call_${randomBytes(12).toString('hex')}`
    given.set(provider, id)
    issued.add(id)
    return id
  }
}
