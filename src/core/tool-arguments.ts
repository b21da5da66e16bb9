/** As much of JSON Schema as the schemas of our own tools have. */
export interface Declared {
  type?: string
  properties?: Record<string, Declared>
  required?: string[]
  items?: Declared
  /** Set where it takes others besides. */
  additionalProperties?: unknown
}

export interface Understood {
  input: unknown
  /** Arguments that the tool does not have. What they were to do would not be done, so that the call must not run. */
  unknown: string[]
}

/**
 * The arguments as a model meant them. Small models, and those that learned other programs' tools, give other names (`file_path`), numbers and
 * lists as text, null for what they leave out, or one thing where a list of them is wanted. Only what can mean but one thing is taken so.
 */
export function understand(given: unknown, declared: Declared): Understood {
  const unknown: string[] = []
  return { input: read(unwrapped(given, declared), declared, '', unknown), unknown }
}

/** An argument of a call as it was sent, under whatever name: for who tells of calls. */
export function argumentOf(input: object, name: string): unknown {
  const fields = new Map(Object.entries(input))
  return fields.get(name) ?? [...fields].find(([key]) => meantBy(key, { [name]: {} }) !== undefined)?.[1]
}

/** The name of a tool, without what small models make of it. */
export const plainToolName = (name: string): string => name.replace(/<\|[\s\S]*$/, '').replace(/^(?:functions|tools|default_api)[.:]/, '').trim().toLowerCase()

/** `path, edits [{ old, new, all? }]` */
export function signature({ properties = {}, required = [] }: Declared): string {
  return Object.entries(properties)
    .map(([name, { type, items }]) => `${name}${required.includes(name) ? '' : '?'}${type === 'array' && items?.properties ? ` [{ ${signature(items)} }]` : ''}`)
    .join(', ')
}

function read(given: unknown, declared: Declared, at: string, unknown: string[]): unknown {
  switch (declared.type) {
    case 'object':
      return readObject(typeof given === 'string' ? parsed(given, isObject) : given, declared, at === '' ? '' : `${at}.`, unknown)
    case 'array': {
      const list = readList(given, declared.items)
      return Array.isArray(list) ? list.map((each, index) => read(each, declared.items ?? {}, `${at}[${index}]`, unknown)) : list
    }
    case 'number':
    case 'integer':
      return typeof given === 'string' && /^\s*-?\d+(?:\.\d+)?\s*$/.test(given) ? Number(given) : given
    case 'boolean':
      return typeof given === 'string' && /^(?:true|false)$/i.test(given.trim()) ? given.trim().toLowerCase() === 'true' : given
    case 'string':
      return Array.isArray(given) ? readWords(given) : given
    default:
      return given
  }
}

function readObject(given: unknown, declared: Declared, at: string, unknown: string[]): unknown {
  if (!isObject(given)) return given
  const { properties = {}, required = [], additionalProperties = false } = declared
  if (additionalProperties !== false) return given
  const taken = new Map<string, unknown>()
  const left: [string, unknown][] = []
  // What has the right name comes first: another name for the same thing must not take its place.
  for (const [name, value] of Object.entries(given)) if (Object.hasOwn(properties, name) && !(value === null && !required.includes(name))) taken.set(name, value)
  for (const [name, value] of Object.entries(given)) {
    if (Object.hasOwn(properties, name) || value === null || value === undefined) continue
    const meant = meantBy(name, properties)
    if (meant !== undefined && !taken.has(meant)) taken.set(meant, value)
    else if (meant === undefined || taken.get(meant) !== value) left.push([name, value])
  }
  const rest = gather(left, taken, declared)
  unknown.push(...rest.filter(([name]) => !HARMLESS.has(plain(name))).map(([name]) => `${at}${name}`))
  return Object.fromEntries([...taken].map(([name, value]) => [name, read(value, properties[name] ?? {}, `${at}${name}`, unknown)]))
}

/** The one item of a list whose parts stand where the list should be: `old` and `new` without `edits`. */
function gather(left: [string, unknown][], taken: Map<string, unknown>, { properties = {}, required = [] }: Declared): [string, unknown][] {
  const wanted = required.filter((name) => !taken.has(name) && properties[name]?.items?.properties)
  const [list] = wanted
  const parts = list === undefined ? undefined : properties[list]?.items
  if (wanted.length !== 1 || list === undefined || !parts?.properties) return left
  const isPart = ([name]: [string, unknown]): boolean => parts.properties !== undefined && (Object.hasOwn(parts.properties, name) || meantBy(name, parts.properties) !== undefined)
  const found = left.filter(isPart)
  if (found.length === 0) return left
  taken.set(list, [Object.fromEntries(found)])
  return left.filter((each) => !isPart(each))
}

function readList(given: unknown, items: Declared | undefined): unknown {
  if (typeof given === 'string') {
    const list = parsed(given, (value) => Array.isArray(value) || isObject(value))
    if (list !== given) return readList(list, items)
    return items?.type === 'string' ? [given] : given
  }
  return isObject(given) && items?.type === 'object' ? [given] : given
}

/** One text in a list is that text, and `bash -lc text` is a command line. What several words are is not certain. */
function readWords(words: readonly unknown[]): unknown {
  const texts = words.filter((word) => typeof word === 'string')
  if (texts.length !== words.length) return words
  if (texts.length === 1) return texts[0]
  return texts.length === 3 && /^(?:\/\S*\/)?(?:ba|z)?sh$/.test(texts[0] ?? '') && /^-l?c$/.test(texts[1] ?? '') ? texts[2] : words
}

/** Some models put all of it into one more object. */
function unwrapped(given: unknown, { properties = {} }: Declared): unknown {
  const value = typeof given === 'string' ? parsed(given, isObject) : given
  const entries = isObject(value) ? Object.entries(value) : []
  const [name, inner] = entries[0] ?? []
  if (entries.length !== 1 || name === undefined || !WRAPPINGS.has(name) || Object.hasOwn(properties, name)) return value
  const object = typeof inner === 'string' ? parsed(inner, isObject) : inner
  return isObject(object) ? object : value
}

const WRAPPINGS: ReadonlySet<string> = new Set(['arguments', 'args', 'parameters', 'params', 'input', 'properties'])

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value that a text is JSON of, if it is one that fits; else the text. */
function parsed(text: string, fits: (value: unknown) => boolean): unknown {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    const value: unknown = JSON.parse(text)
    return fits(value) ? value : text
  } catch {
    return text
  }
}

const plain = (name: string): string => name.replace(/[-_\s]/g, '').toLowerCase()

function meantBy(name: string, properties: Record<string, Declared>): string | undefined {
  const spelt = plain(name)
  return Object.keys(properties).find((each) => plain(each) === spelt) ?? Object.keys(properties).find((each) => NAMES[each]?.includes(spelt))
}

/** What other programs' tools call the arguments of ours. Never one of another unit or sense: `timeout_ms`, `end_line`, `append`. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  path: ['filepath', 'file', 'filename', 'absolutepath', 'absolutefilepath', 'relativepath', 'targetfile', 'directory', 'dir', 'folder', 'directorypath', 'dirpath', 'folderpath'],
  cwd: ['workdir', 'workingdirectory', 'workingdir', 'directory', 'dir'],
  content: ['contents', 'filecontent', 'filecontents', 'filetext', 'newcontent', 'text'],
  edits: ['replacements', 'changes'],
  old: ['oldstring', 'oldstr', 'oldtext', 'search', 'find'],
  new: ['newstring', 'newstr', 'newtext', 'replace', 'replacement', 'replacewith'],
  all: ['replaceall', 'allowmultiple'],
  command: ['cmd', 'commandline', 'shellcommand', 'script'],
  background: ['runinbackground', 'isbackground'],
  timeout: ['timeoutseconds', 'timeoutsecs', 'timeoutsec'],
  pattern: ['regex', 'regexp', 'query', 'searchpattern', 'globpattern'],
  glob: ['include', 'includepattern', 'filepattern', 'fileglob', 'globpattern'],
  ignoreCase: ['caseinsensitive', 'insensitive'],
  context: ['contextlines'],
  limit: ['maxresults', 'headlimit', 'maxlines', 'maxcount', 'numlines', 'linecount'],
  offset: ['startline', 'linestart', 'firstline'],
  numbers: ['linenumbers', 'showlinenumbers'],
  id: ['jobid', 'taskid', 'job'],
  op: ['operation', 'action', 'subcommand', 'command'],
  message: ['commitmessage', 'msg'],
  rev: ['revision', 'ref', 'commit', 'sha'],
  paths: ['files', 'filepaths'],
  items: ['todos', 'tasks'],
  text: ['content', 'title', 'task', 'step'],
}

/** What a model says of a call, and changes nothing of it. */
const HARMLESS: ReadonlySet<string> = new Set(['description', 'explanation', 'reason', 'reasoning', 'justification', 'rationale', 'thought', 'thoughts', 'purpose', 'intent', 'summary', 'securityrisk', 'requiresapproval', 'safetocontinue'])
