import { isAbsolute } from 'node:path'
import type { Cwds, ShellAccess, Surroundings } from './shell-access.ts'
import { changeFolder, LOST, realPaths, stays, union, type Flow } from './shell-cwds.ts'
import type { Node } from './shell-grammar.ts'
import { fixed, open, wordOf, type Word } from './shell-word.ts'

/** A program with its words, and where it may stand when it runs. */
export interface SimpleCommand {
  words: Word[]
  cwds: Cwds
}

export interface Walked {
  commands: SimpleCommand[]
  /** Of redirections, assignments and what cannot be known. */
  accesses: ShellAccess[]
}

interface Walk extends Walked { home: string }

/** Every simple command of a tree, however deep, in the order of the text; whatever is not understood becomes `unknown`. */
export function simpleCommands(root: Node, { cwd, home }: Pick<Surroundings, 'cwd' | 'home'>): Walked {
  const walk: Walk = { commands: [], accesses: [], home }
  visit(root, [cwd], walk)
  return walk
}

const unknown = (walk: Walk, why: string, part: 'program' | 'path' = 'program'): void => void walk.accesses.push({ kind: 'unknown', why, part })

function visit(node: Node, cwds: Cwds, walk: Walk): Flow {
  switch (node.type) {
    case 'program':
    case 'do_group':
    case 'else_clause':
    case 'elif_clause':
    case 'if_statement':
      return sequence(node, cwds, walk)
    case 'compound_statement':
      if (node.firstChild?.type === '((') return arithmetic(node, cwds, walk)
      return sequence(node, cwds, walk)
    case 'list':
      return list(node, cwds, walk)
    case 'pipeline':
    case 'subshell':
    case 'command_substitution':
    case 'process_substitution':
      // A backslash in backquotes is taken away before the inside is read.
      if (node.text.startsWith('`') && node.text.includes('\\')) unknown(walk, 'a backslash in backquotes')
      if (node.type === 'pipeline') for (const child of node.namedChildren) visit(child, cwds, walk)
      else sequence(node, cwds, walk)
      return stays(cwds)
    case 'negated_command':
      return stays(sequence(node, cwds, walk).any)
    case 'redirected_statement': {
      const body = node.childForFieldName('body')
      for (const child of node.namedChildren) if (child.id !== body?.id) redirect(child, cwds, walk)
      return body ? visit(body, cwds, walk) : stays(cwds)
    }
    case 'command':
      return command(node, cwds, walk)
    case 'while_statement':
    case 'for_statement':
    case 'c_style_for_statement':
      return loop(node, cwds, walk)
    case 'case_statement':
      return choice(node, cwds, walk)
    case 'function_definition':
      unknown(walk, `it defines a function: ${node.text.split('\n', 1)[0] ?? ''}`)
      for (const child of node.namedChildren) if (child.type !== 'word') visit(child, null, walk)
      return LOST
    case 'test_command':
      return test(node, cwds, walk)
    case 'variable_assignment':
    case 'variable_assignments':
      for (const one of node.type === 'variable_assignment' ? [node] : node.namedChildren) assignment(one, cwds, walk, 'it sets')
      return stays(cwds)
    case 'unset_command':
      if (!node.namedChildren.every(({ type, text }) => type === 'variable_name' && isOwnName(text))) unknown(walk, `it changes the shell: ${node.text}`)
      substitutions(node, cwds, walk)
      return stays(cwds)
    case 'comment':
      return stays(cwds)
    case 'file_redirect':
    case 'herestring_redirect':
    case 'heredoc_redirect':
      redirect(node, cwds, walk)
      return stays(cwds)
    default:
      unknown(walk, `it changes the shell, or is not understood: ${firstLine(node)}`)
      substitutions(node, cwds, walk)
      return LOST
  }
}

const firstLine = (node: Node): string => node.text.split('\n', 1)[0]?.slice(0, 200) ?? ''

/** One after the other, whatever became of the one before; branches are taken as if all of them ran. */
function sequence(node: Node, cwds: Cwds, walk: Walk): Flow {
  let flow = stays(cwds)
  for (const child of node.namedChildren) {
    const from = node.type === 'if_statement' || node.type.startsWith('el') ? union(cwds, flow.any) : flow.any
    flow = visit(child, from, walk)
  }
  return node.type === 'program' || node.type === 'compound_statement' ? flow : stays(union(cwds, flow.any))
}

function list(node: Node, cwds: Cwds, walk: Walk): Flow {
  const [left, right] = node.namedChildren.filter(({ type }) => type !== 'comment')
  const operator = node.children.find(({ isNamed }) => !isNamed)?.type
  if (!left || !right || node.namedChildren.length > 2 || (operator !== '&&' && operator !== '||')) {
    unknown(walk, `it is not understood: ${firstLine(node)}`)
    for (const child of node.namedChildren) visit(child, null, walk)
    return LOST
  }
  const first = visit(left, cwds, walk)
  const second = visit(right, operator === '&&' ? first.ok : first.any, walk)
  return { ok: operator === '&&' ? second.ok : union(first.ok, second.ok), any: union(first.any, second.any) }
}

/** Its body runs any number of times, so a `cd` in it leads anywhere. */
function loop(node: Node, cwds: Cwds, walk: Walk): Flow {
  const moves = node.descendantsOfType('command_name').some((name) => MOVES.has(name?.text ?? ''))
  const inside = moves ? null : cwds
  const variable = node.childForFieldName('variable')
  if (variable && !isOwnName(variable.text)) unknown(walk, `it sets ${variable.text}`)
  if (node.type === 'c_style_for_statement') unknown(walk, `it calculates with variables: ${firstLine(node)}`)
  for (const child of node.namedChildren) {
    if (child.id === variable?.id) continue
    if (isWord(child)) substitutions(child, inside, walk)
    else if (node.type === 'c_style_for_statement' && child.type !== 'do_group' && child.type !== 'compound_statement') substitutions(child, inside, walk)
    else visit(child, inside, walk)
  }
  return stays(inside)
}

function choice(node: Node, cwds: Cwds, walk: Walk): Flow {
  let all = cwds
  for (const child of node.namedChildren) {
    if (child.type !== 'case_item') {
      substitutions(child, cwds, walk)
      continue
    }
    let flow = stays(all)
    const patterns = new Set(child.childrenForFieldName('value').map((pattern) => pattern?.id))
    for (const part of child.namedChildren) {
      if (patterns.has(part.id)) substitutions(part, cwds, walk)
      else flow = visit(part, flow.any, walk)
    }
    all = union(all, flow.any)
  }
  return stays(all)
}

const WORDS: ReadonlySet<string> = new Set([
  'word', 'number', 'string', 'raw_string', 'ansi_c_string', 'concatenation', 'simple_expansion', 'expansion', 'arithmetic_expansion', 'brace_expression', 'extglob_pattern', 'command_substitution', 'process_substitution',
])
const isWord = ({ type }: Node): boolean => WORDS.has(type)

/** Commands after which nobody knows where the shell stands. */
const MOVES: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd', 'eval', 'source', '.', 'builtin', 'command', 'trap', 'shopt', 'alias', 'enable'])

function command(node: Node, cwds: Cwds, walk: Walk): Flow {
  const words: Word[] = []
  const assigned: Node[] = []
  for (const child of node.children) {
    if (child.type === 'variable_assignment') assigned.push(child)
    else if (child.type.endsWith('_redirect')) redirect(child, cwds, walk)
    else if (child.type === 'command_name' || isWord(child)) {
      substitutions(child, cwds, walk)
      words.push(wordOf(child, { cwds, home: walk.home }))
    } else if (child.type === '==' || child.type === '=~') words.push(fixed(child.text))
    else {
      unknown(walk, `it is not understood: ${child.text}`)
      words.push(open(child.text))
    }
  }
  const name = words[0]?.values?.length === 1 ? words[0].shown : undefined
  for (const one of assigned) if (!isHarmless(one, name)) assignment(one, cwds, walk, 'for one command it sets', true)
  if (name === undefined) {
    unknown(walk, `which program runs is only known when it runs: ${firstLine(node)}`)
    return LOST
  }
  walk.commands.push({ words, cwds })
  if (name === 'cd') return changeFolder(words, cwds, walk.home)
  return MOVES.has(name) ? LOST : stays(cwds)
}

/** A variable of the command line itself: no program looks at one of that name. */
const isOwnName = (name: string): boolean => /^[a-z_][a-z0-9_]*$/.test(name) && !name.endsWith('proxy')

/** Language and colour do not change what runs; IFS before `read` holds for it only. */
function isHarmless(node: Node, command: string | undefined): boolean {
  const name = node.childForFieldName('name')?.text ?? ''
  const value = node.childForFieldName('value')
  if (name === 'IFS' && command === 'read') return value === null || ['string', 'raw_string', 'ansi_c_string'].includes(value.type)
  return /^(?:LANG|LANGUAGE|LC_[A-Z]+|NO_COLOR|FORCE_COLOR|CLICOLOR)$/.test(name) && (value === null || /^[\w.@-]*$/.test(value.text))
}

function assignment(node: Node, cwds: Cwds, walk: Walk, what: string, always = false): void {
  const name = node.childForFieldName('name')?.text ?? node.text
  if (always || !isOwnName(name) || node.childForFieldName('value')?.type === 'array') unknown(walk, `${what} ${name}, which may change what runs`)
  substitutions(node, cwds, walk)
}

/** Looks into the words of a node for commands that run to make them. */
function substitutions(node: Node, cwds: Cwds, walk: Walk): void {
  switch (node.type) {
    case 'command_substitution':
    case 'process_substitution':
      visit(node, cwds, walk)
      return
    case 'expansion':
      // Operators may assign, follow names, or evaluate what a variable holds.
      if (!/^\$\{\w+\}$/.test(node.text)) unknown(walk, `an expansion that may do more than insert a value: ${node.text}`, 'program')
      break
    case 'arithmetic_expansion':
    case 'subscript':
      if (!/^[\s\d+*/%()$<>=!&|^~?:-]*$/.test(node.text)) unknown(walk, `it calculates with variables, which may run commands: ${node.text}`)
      break
  }
  for (const child of node.namedChildren) substitutions(child, cwds, walk)
}

function arithmetic(node: Node, cwds: Cwds, walk: Walk): Flow {
  unknown(walk, `it calculates with variables, which may run commands: ${firstLine(node)}`)
  substitutions(node, cwds, walk)
  return stays(cwds)
}

/** `[ … ]` and `[[ … ]]`: operators that evaluate names or sums may run what a variable holds, and in `[` a `>` writes. */
function test(node: Node, cwds: Cwds, walk: Walk): Flow {
  const double = node.firstChild?.type === '[['
  const operators = node.descendantsOfType('test_operator').map((operator) => operator?.text ?? '')
  const counts = operators.some((operator) => /^-(?:eq|ne|lt|le|gt|ge)$/.test(operator))
  const bare = node.descendantsOfType(['simple_expansion', 'expansion', 'command_substitution']).some((one) => one !== null && !inString(one, node))
  const odd = !/^\[\[?\s[\s\S]*\s\]\]?$/.test(node.text) || signs(node).some((sign) => !(double ? SIGNS_OF_DOUBLE : SIGNS).has(sign))
  if (odd || operators.some((operator) => /^-[vRo]$/.test(operator)) || (double ? counts && bareOperands(node) : bare)) unknown(walk, `a test that may do more than compare: ${firstLine(node)}`)
  else walk.accesses.push({ kind: 'exec', argv: [double ? '[[' : '[', ...node.namedChildren.map(({ text }) => text)], reads: true })
  substitutions(node, cwds, walk)
  return stays(cwds)
}

/** Operators and quotes, but not those of commands inside. */
const signs = (node: Node): string[] => node.children.flatMap((child) => (child.type.endsWith('_substitution') ? [] : child.isNamed ? signs(child) : [child.type.trim()]))
const SIGNS: ReadonlySet<string> = new Set(['[', ']', '!', '=', '==', '!=', '"', '$', '${', '}'])
const SIGNS_OF_DOUBLE: ReadonlySet<string> = new Set([...SIGNS, '[[', ']]', '<', '>', '&&', '||', '(', ')'])

const bareOperands = (node: Node): boolean => node.descendantsOfType('binary_expression').some((binary) => binary !== null && binary.namedChildren.some(({ type }) => !['number', 'test_operator'].includes(type)))

function inString(node: Node, until: Node): boolean {
  for (let above = node.parent; above && above.id !== until.id; above = above.parent) if (above.type === 'string') return true
  return false
}

/** Devices that keep nothing. */
const HARMLESS = /^\/dev\/(?:null|stdin|stdout|stderr|zero|fd\/\d+)$/
export const isHarmlessFile = (path: string): boolean => HARMLESS.test(path)

function redirect(node: Node, cwds: Cwds, walk: Walk): void {
  substitutions(node, cwds, walk)
  if (node.type === 'herestring_redirect') return
  if (node.type !== 'file_redirect') {
    unknown(walk, 'it feeds a text to a command (here-document)')
    for (const child of node.namedChildren) if (!child.type.startsWith('heredoc') && !isWord(child)) visit(child, cwds, walk)
    return
  }
  const operator = node.children.find(({ isNamed }) => !isNamed)?.type ?? ''
  const targets = node.childrenForFieldName('destination').filter((target) => target !== null)
  if (/^[<>]&-?$/.test(operator) && (targets.length === 0 || (targets.length === 1 && /^\d+-?$|^-$/.test(targets[0]?.text ?? '')))) return
  if (targets.length !== 1 || !OPERATORS.has(operator)) return unknown(walk, `a redirection that is not understood: ${node.text}`)
  for (const target of targets) {
    const word = wordOf(target, { cwds, home: walk.home })
    const path = word.values?.length === 1 ? word.values[0] : undefined
    if (path !== undefined && isHarmlessFile(path)) continue
    if (path === undefined || path === '' || (cwds === null && !isAbsolute(path))) unknown(walk, `which file it ${operator === '<' ? 'reads' : 'writes'} is only known when it runs: ${node.text}`, 'path')
    else if (/^\/dev\/(?:tcp|udp)\//.test(path)) unknown(walk, `it opens a connection: ${path}`)
    else for (const real of realPaths(path, cwds)) walk.accesses.push(operator === '<' ? { kind: 'read', path: real } : { kind: 'write', path: real, command: true })
  }
}

const OPERATORS: ReadonlySet<string> = new Set(['<', '>', '>>', '&>', '&>>', '>|', '>&'])
