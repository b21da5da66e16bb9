import type { Word } from './shell-word.ts'

/** Hosts that a network program names; `?` where it names none that can be read. Empty: not a network program, as far as is known. */
export function hostsOf(program: string, words: readonly Word[]): string[] {
  const name = program.slice(program.lastIndexOf('/') + 1)
  const texts = words.map(({ values }) => (values?.length === 1 ? (values[0] ?? '') : '$'))
  if (name === 'git') return GIT_REMOTE.has(texts.find((text) => !text.startsWith('-')) ?? '') ? urls(texts) : []
  if (!PROGRAMS.has(name)) return []
  const operands = texts.filter((text, index) => text !== '' && !text.startsWith('-') && !TAKES_VALUE.test(texts[index - 1] ?? ''))
  const named = urls(texts)
  const hosts = named.length > 0 ? named : (COPIES.has(name) ? operands.filter((text) => text.includes(':')) : operands.slice(0, name === 'curl' || name === 'wget' ? undefined : 1)).map(hostOf)
  return hosts.length > 0 ? [...new Set(hosts)] : ['?']
}

const PROGRAMS: ReadonlySet<string> = new Set(['curl', 'wget', 'ssh', 'scp', 'sftp', 'rsync', 'ftp', 'telnet', 'nc', 'ncat', 'netcat', 'ping', 'ping6', 'dig', 'nslookup', 'host', 'traceroute', 'whois', 'http', 'https', 'xh', 'aria2c', 'lynx', 'w3m', 'socat', 'mosh'])
const COPIES: ReadonlySet<string> = new Set(['scp', 'rsync', 'sftp'])
const GIT_REMOTE: ReadonlySet<string> = new Set(['clone', 'fetch', 'pull', 'push', 'ls-remote', 'submodule'])
/** Options of curl, wget, ssh and the like whose value is the next word. */
const TAKES_VALUE = /^(?:-[AbcdDeEFHimKoOpPuUwxXyYzlLJQRSIBJCW]|--(?:data\S*|header|output|user|user-agent|request|form|max-time|connect-timeout|cookie|cookie-jar|referer|proxy|post-data|post-file|method|body-data|timeout|tries|port|retry))$/

const urls = (texts: readonly string[]): string[] => texts.flatMap((text) => /^[a-z][a-z0-9+.-]*:\/\/[^\s]/i.exec(text) ? [hostOf(text)] : /^[\w.-]+@[\w.-]+:/.test(text) ? [hostOf(text)] : [])

/** `https://user@host:80/x`, `user@host:path`, `host/path`; `?` for what holds something unknown. */
function hostOf(text: string): string {
  const rest = text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/[/?#][\s\S]*$/, '')
  const host = rest.replace(/^[^@]*@/, '').replace(/^\[([^\]]*)\].*$|:[^:]*$/, '$1').toLowerCase()
  return /^[\w.:-]+$/.test(host) ? host : '?'
}
