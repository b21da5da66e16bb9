import type { WireProtocol } from './model-server.ts'

type Json = Record<string, unknown>

/** What this server itself has sent: signatures and encrypted state that others made are refused, as providers do. */
export interface Known {
  /** Opaque values that this server issued. */
  issued: ReadonlySet<string>
  /** Calls of replies that carried `reasoning_content`: it must come back with them (P25). */
  needsReasoning?: boolean
}

/** The published rules that a provider refuses requests by, written down as strict as the strictest. Empty: it is accepted. */
export function checkRequest(protocol: WireProtocol, body: unknown, headers: Record<string, unknown>, path: string, known: Known): string[] {
  const problems: string[] = []
  const must = (ok: unknown, problem: string): void => {
    if (!ok) problems.push(problem)
  }
  if (!isObject(body)) return ['the body is not a JSON object']
  switch (protocol) {
    case 'chat': checkChat(body, known, must); break
    case 'anthropic': checkAnthropic(body, headers, known, must); break
    case 'responses': checkResponses(body, known, must); break
    case 'google': checkGoogle(body, path, known, must); break
  }
  return problems
}

type Must = (ok: unknown, problem: string) => void

function checkChat(body: Json, known: Known, must: Must): void {
  const messages = list(body['messages'])
  must(typeof body['model'] === 'string' && body['model'] !== '', 'model is missing')
  must(messages.length > 0, 'messages is empty')
  must(body['stream'] !== true || isObject(body['stream_options']), 'stream_options.include_usage is missing')
  for (const tool of list(body['tools'])) {
    const declared = object(tool['function'])
    must(tool['type'] === 'function' && NAME.test(text(declared['name'])), `tool name ${text(declared['name'])}`)
    must(object(declared['parameters'])['type'] === 'object', `parameters of ${text(declared['name'])} are not of type object`)
  }
  const ids = new Set<string>()
  let waiting: string[] = []
  messages.forEach((message, index) => {
    const role = text(message['role'])
    const at = `messages[${index}] (${role})`
    if (role !== 'tool') must(waiting.length === 0, `${at}: calls without a result before it: ${waiting.join(', ')}`)
    if (role !== 'tool') waiting = []
    if (index > 0) must(role === 'tool' || role !== messages[index - 1]?.['role'], `${at}: two messages of one role`)
    switch (role) {
      case 'system': must(index === 0, `${at}: not at the beginning`); must(text(message['content']) !== '', `${at}: empty`); break
      case 'user': checkContent(message['content'], at, must); break
      case 'assistant': {
        const calls = list(message['tool_calls'])
        must(calls.length > 0 || text(message['content']) !== '', `${at}: neither text nor calls`)
        must(message['content'] !== '' || calls.length === 0, `${at}: empty text beside calls`)
        for (const field of ['reasoning_content', 'reasoning']) must(message[field] === undefined || calls.length > 0, `${at}: ${field} on a message without calls`)
        if (known.needsReasoning && calls.length > 0) must(typeof message['reasoning_content'] === 'string', `${at}: reasoning_content must be passed back`)
        for (const call of calls) {
          const id = text(call['id'])
          must(/^[\x21-\x7e]{1,40}$/.test(id), `${at}: id "${id}"`)
          must(!ids.has(id), `${at}: id ${id} is not unique`)
          must(NAME.test(text(object(call['function'])['name'])), `${at}: name "${text(object(call['function'])['name'])}"`)
          must(isObject(parse(object(call['function'])['arguments'])), `${at}: arguments are not a JSON object`)
          ids.add(id)
          waiting.push(id)
        }
        break
      }
      case 'tool': {
        const id = text(message['tool_call_id'])
        must(waiting.includes(id), `${at}: result ${id} without its call`)
        waiting = waiting.filter((other) => other !== id)
        checkContent(message['content'], at, must)
        break
      }
      default: must(false, `${at}: role`)
    }
  })
  must(waiting.length === 0, `calls without a result: ${waiting.join(', ')}`)
  must(messages.at(-1)?.['role'] !== 'assistant', 'the last message is of the assistant')
}

function checkContent(content: unknown, at: string, must: Must): void {
  if (typeof content === 'string') return must(content !== '', `${at}: empty text`)
  const parts = list(content)
  must(parts.length > 0, `${at}: no parts`)
  for (const part of parts) {
    if (part['type'] === 'text') must(text(part['text']) !== '', `${at}: empty text part`)
    else must(part['type'] === 'image_url' && text(object(part['image_url'])['url']).startsWith('data:image/'), `${at}: part of type ${text(part['type'])}`)
  }
}

function checkAnthropic(body: Json, headers: Record<string, unknown>, known: Known, must: Must): void {
  must(typeof headers['anthropic-version'] === 'string', 'anthropic-version is missing')
  must(headers['x-api-key'] ?? headers['authorization'], 'x-api-key is missing')
  must(Number.isInteger(body['max_tokens']) && Number(body['max_tokens']) > 0, `max_tokens is ${String(body['max_tokens'])}`)
  must((JSON.stringify(body).match(/"cache_control":\{/g) ?? []).length <= 4, 'more than four cache breakpoints')
  for (const block of list(body['system'])) must(text(block['text']).trim() !== '', 'empty system block')
  for (const tool of list(body['tools'])) {
    must(NAME.test(text(tool['name'])), `tool name ${text(tool['name'])}`)
    must(object(tool['input_schema'])['type'] === 'object', `input_schema of ${text(tool['name'])} is not of type object`)
  }
  const messages = list(body['messages'])
  const thinking = object(body['thinking'])
  if (thinking['type'] === 'enabled') {
    must(Number(thinking['budget_tokens']) >= 1024 && Number(thinking['budget_tokens']) < Number(body['max_tokens']), `budget_tokens ${String(thinking['budget_tokens'])} with max_tokens ${String(body['max_tokens'])}`)
    must(body['temperature'] === undefined, 'temperature with thinking')
    const last = messages.findLast((message) => message['role'] === 'assistant')
    const tail = messages.at(-1)
    const inTools = list(tail?.['content']).some((block) => block['type'] === 'tool_result')
    if (last && inTools) must(text(list(last['content'])[0]?.['type']).endsWith('thinking'), 'Expected `thinking` or `redacted_thinking`, but found something else at the start of the last reply')
  }
  must(messages[0]?.['role'] === 'user', 'the first message is not of the user')
  must(messages.at(-1)?.['role'] === 'user', 'the last message is not of the user')
  const ids = new Set<string>()
  messages.forEach((message, index) => {
    const at = `messages[${index}]`
    const blocks = typeof message['content'] === 'string' ? [{ type: 'text', text: message['content'] }] : list(message['content'])
    must(index === 0 || message['role'] !== messages[index - 1]?.['role'], `${at}: roles do not alternate`)
    must(blocks.length > 0, `${at}: no content`)
    const results = blocks.filter((block) => block['type'] === 'tool_result')
    const before = list(messages[index - 1]?.['content']).filter((block) => block['type'] === 'tool_use').map((block) => text(block['id']))
    if (message['role'] === 'user') {
      must(sameSet(results.map((block) => text(block['tool_use_id'])), before), `${at}: results ${results.map((block) => text(block['tool_use_id'])).join()} for calls ${before.join()}`)
      must(blocks.findLastIndex((block) => block['type'] === 'tool_result') === results.length - 1, `${at}: results must come first`)
    }
    for (const block of blocks) checkBlock(block, at, text(message['role']), ids, known, must)
  })
}

function checkBlock(block: Json, at: string, role: string, ids: Set<string>, known: Known, must: Must): void {
  switch (block['type']) {
    case 'text': return must(text(block['text']).trim() !== '', `${at}: text content blocks must contain non-whitespace text`)
    case 'image': return must(role === 'user' && text(object(block['source'])['data']) !== '', `${at}: image`)
    case 'thinking':
      must(role === 'assistant' && block['cache_control'] === undefined, `${at}: thinking`)
      return must(known.issued.has(text(block['signature'])), `${at}: Invalid signature in thinking block`)
    case 'redacted_thinking': return must(known.issued.has(text(block['data'])), `${at}: redacted_thinking of somebody else`)
    case 'tool_use': {
      const id = text(block['id'])
      must(role === 'assistant' && /^[a-zA-Z0-9_-]{1,64}$/.test(id), `${at}: id "${id}"`)
      must(!ids.has(id), `${at}: tool_use ids must be unique: ${id}`)
      ids.add(id)
      must(NAME.test(text(block['name'])), `${at}: name ${text(block['name'])}`)
      return must(isObject(block['input']), `${at}: input is not an object`)
    }
    case 'tool_result': {
      const inner = typeof block['content'] === 'string' ? [{ type: 'text', text: block['content'] }] : list(block['content'])
      for (const part of inner) must(part['type'] === 'image' || text(part['text']).trim() !== '', `${at}: empty result`)
      return
    }
    default: must(false, `${at}: block of type ${text(block['type'])}`)
  }
}

function checkResponses(body: Json, known: Known, must: Must): void {
  must(body['store'] === false, 'store is not false')
  must(body['previous_response_id'] === undefined, 'previous_response_id without store')
  for (const tool of list(body['tools'])) {
    must(tool['type'] === 'function' && NAME.test(text(tool['name'])), `tool ${text(tool['name'])}`)
    must(object(tool['parameters'])['type'] === 'object', `parameters of ${text(tool['name'])} are not of type object`)
  }
  const items = list(body['input'])
  const waiting = new Set<string>()
  const ids = new Set<string>()
  items.forEach((item, index) => {
    const type = text(item['type'] ?? 'message')
    const at = `input[${index}] (${type})`
    switch (type) {
      case 'message': {
        const role = text(item['role'])
        const content = typeof item['content'] === 'string' ? [{ type: role === 'assistant' ? 'output_text' : 'input_text', text: item['content'] }] : list(item['content'])
        must(content.length > 0, `${at}: no content`)
        for (const part of content) {
          if (part['type'] === 'input_image') must(text(part['image_url']).startsWith('data:image/'), `${at}: image`)
          else must(part['type'] === (role === 'assistant' ? 'output_text' : 'input_text') && text(part['text']) !== '', `${at}: ${text(part['type'])} "${text(part['text'])}"`)
        }
        if (role === 'user') must(waiting.size === 0, `${at}: No tool output found for function call ${[...waiting].join()}`)
        must(item['id'] === undefined || text(item['id']).startsWith('msg_'), `${at}: id ${text(item['id'])}`)
        break
      }
      case 'reasoning': {
        must(known.issued.has(text(item['encrypted_content'])), `${at}: The encrypted content could not be verified`)
        const next = items[index + 1]
        must(next && (next['type'] === 'reasoning' || next['type'] === 'function_call' || next['role'] === 'assistant'), `${at}: was provided without its required following item`)
        break
      }
      case 'function_call': {
        const id = text(item['call_id'])
        must(id.length > 0 && id.length <= 64, `${at}: call_id "${id}"`)
        must(!ids.has(id), `${at}: call_id ${id} is not unique`)
        must(item['id'] === undefined || text(item['id']).startsWith('fc_'), `${at}: id ${text(item['id'])} must begin with fc_`)
        must(NAME.test(text(item['name'])) && isObject(parse(item['arguments'])), `${at}: ${text(item['name'])} ${text(item['arguments'])}`)
        ids.add(id)
        waiting.add(id)
        break
      }
      case 'function_call_output':
        must(waiting.delete(text(item['call_id'])), `${at}: No tool call found for ${text(item['call_id'])}`)
        must(typeof item['output'] === 'string' || list(item['output']).length > 0, `${at}: output`)
        break
      default: must(false, `${at}: without store there is nothing to refer to`)
    }
  })
  must(waiting.size === 0, `No tool output found for function call ${[...waiting].join()}`)
}

function checkGoogle(body: Json, path: string, known: Known, must: Must): void {
  const contents = list(body['contents'])
  const gemini3 = /gemini-3/.test(path)
  for (const tool of list(body['tools'])) for (const declared of list(tool['functionDeclarations'])) must(/^[a-zA-Z_][\w.:-]{0,63}$/.test(text(declared['name'])), `function name ${text(declared['name'])}`)
  must(contents[0]?.['role'] === 'user', 'the first content is not of the user')
  must(contents.at(-1)?.['role'] === 'user', 'the last content is not of the user')
  const lastAsked = contents.findLastIndex((content) => content['role'] === 'user' && list(content['parts']).some((part) => part['text'] !== undefined))
  contents.forEach((content, index) => {
    const at = `contents[${index}]`
    const parts = list(content['parts'])
    const afterResponses = list(contents[index - 1]?.['parts']).some((part) => part['functionResponse'])
    must(content['role'] !== contents[index - 1]?.['role'] || afterResponses, `${at}: roles do not alternate`)
    must(parts.length > 0, `${at}: no parts`)
    const calls = parts.filter((part) => part['functionCall'])
    const answers = list(contents[index + 1]?.['parts']).filter((part) => part['functionResponse'])
    if (calls.length > 0) {
      must(calls.length === answers.length, `${at}: the number of function response parts (${answers.length}) is not equal to the number of function call parts (${calls.length})`)
      must(sameSet(calls.map((part) => text(object(part['functionCall'])['name'])), answers.map((part) => text(object(part['functionResponse'])['name']))), `${at}: names of calls and responses differ`)
      must(sameSet(calls.map((part) => text(object(part['functionCall'])['id'])), answers.map((part) => text(object(part['functionResponse'])['id']))), `${at}: ids of calls and responses differ`)
      if (gemini3 && index > lastAsked) must(calls[0]?.['thoughtSignature'], `${at}: Function call is missing a thought_signature`)
    }
    must(content['role'] === 'user' || parts.every((part) => !part['functionResponse']), `${at}: response of the model`)
    for (const part of parts) {
      const signature = part['thoughtSignature']
      if (signature !== undefined) must(known.issued.has(text(signature)) || signature === 'skip_thought_signature_validator', `${at}: Thought signature is not valid`)
      if ('text' in part) must(text(part['text']) !== '' || signature !== undefined, `${at}: empty text`)
      if (part['functionCall']) must(isObject(object(part['functionCall'])['args'] ?? {}), `${at}: args`)
      if (part['functionResponse']) must(isObject(object(part['functionResponse'])['response']), `${at}: response is not an object`)
    }
  })
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const object = (value: unknown): Json => (isObject(value) ? value : {})
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const sameSet = (a: string[], b: string[]): boolean => a.length === b.length && a.toSorted().join('\n') === b.toSorted().join('\n')

function parse(value: unknown): unknown {
  try {
    return typeof value === 'string' ? JSON.parse(value) : undefined
  } catch {
    return undefined
  }
}
