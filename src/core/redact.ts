/**
 * Keys and tokens of known forms out of what tools say, before it is written or sent. Only forms that are a secret and hardly anything
 * else: a model that is shown `[redacted:…]` in place of ordinary text cannot edit it. What the person typed and the opaque state of a
 * provider are not to be given to this.
 */
export function redact(text: string, known: readonly string[] = []): string {
  let clean = text
  for (const secret of known) if (secret.length >= 8) clean = clean.replaceAll(secret, placeholder('configured-key'))
  for (const form of FORMS) {
    if (!form.hint.some((hint) => clean.includes(hint))) continue
    clean = clean.replace(form.pattern, (match: string, ...groups: unknown[]) => {
      const secret = typeof groups[0] === 'string' ? groups[0] : match
      return form.isSecret && !form.isSecret(secret) ? match : match.replace(secret, () => placeholder(form.name))
    })
  }
  return clean
}

/** Text that was redacted: an edit whose `old` holds this can match nothing in the file. */
export const isRedacted = (text: string): boolean => /\[redacted:[a-z-]+\]/.test(text)

/** Whether something stands in it that every secret of some form has. */
export const hintsIn = (text: string): boolean => FORMS.some((form) => form.hint.some((hint) => text.includes(hint)))

/** A copy of a value with every text in it redacted, but for opaque provider state. */
export function redactDeep<T>(value: T, known: readonly string[] = []): T {
  return walk(value, known) as T
}

function walk(value: unknown, known: readonly string[]): unknown {
  if (typeof value === 'string') return redact(value, known)
  if (Array.isArray(value)) return value.map((each) => walk(each, known))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [redact(key, known), key === 'opaque' ? each : walk(each, known)]))
}

const placeholder = (name: string): string => `[redacted:${name}]`

interface Form {
  name: string
  /** One of these stands in every text that the pattern can match, so that most text costs a search and no more. */
  hint: readonly string[]
  /** The secret is the first group, or all of it. */
  pattern: RegExp
  isSecret?: (secret: string) => boolean
}

/** Random, not words: a digit, and both cases or a long run without a break. */
const isRandom = (text: string): boolean => /\d/.test(text) && ((/[a-z]/.test(text) && /[A-Z]/.test(text)) || /[0-9a-z]{24}/.test(text))

/** Not a name of a variable, not a template, not an example to be filled in. */
const isLiteral = (text: string): boolean => !/[${}<>*%]|^(?:x+|\.+)$|your|example|changeme|placeholder|password|secret/i.test(text) && /\d/.test(text) && /[a-z]/i.test(text)

/** No letter, digit, `_` or `-` before it: the beginning of a token. */
const START = '(?<![A-Za-z0-9_-])'

const PEM_BEGIN = '-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----'
/** With line ends as they are, or as a JSON text has them. */
const PEM_BODY = '(?:[A-Za-z0-9+/=\\s:,.()]|-(?!----)|\\\\[nr])*'
/** Of one that was cut off: as long as lines look like those of a key. */
const PEM_LINES = '(?:(?:\\s|\\\\[nr])*(?:(?:Proc-Type|DEK-Info|Version|Comment): [^\\n\\\\]{1,80}|[A-Za-z0-9+/=]{16,}))+(?:(?:\\s|\\\\[nr])*[A-Za-z0-9+/=]{1,15}$)?'

const FORMS: readonly Form[] = [
  {
    name: 'private-key', hint: ['PRIVATE KEY'],
    pattern: new RegExp(`${PEM_BEGIN}(?:${PEM_BODY}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|${PEM_LINES})`, 'g'),
  },
  { name: 'api-key', hint: ['sk-'], pattern: new RegExp(`${START}sk-[A-Za-z0-9_-]{20,}`, 'g'), isSecret: isRandom },
  { name: 'github-token', hint: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'], pattern: new RegExp(`${START}(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})`, 'g') },
  { name: 'gitlab-token', hint: ['glpat-', 'gldt-', 'glrt-'], pattern: new RegExp(`${START}gl(?:pat|dt|rt)-[A-Za-z0-9_-]{20,}`, 'g') },
  { name: 'aws-key', hint: ['AKIA', 'ASIA'], pattern: new RegExp(`${START}(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])`, 'g') },
  { name: 'aws-secret', hint: ['aws_', 'AWS_', 'SecretAccessKey'], pattern: /(?:aws_secret_access_key|aws_session_token|SecretAccessKey)["']?\s*[:=]\s*["']?([A-Za-z0-9/+=]{40,2000})(?![A-Za-z0-9/+=])/gi },
  { name: 'slack-token', hint: ['xox', 'xapp-', 'hooks.slack.com'], pattern: new RegExp(`${START}(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})|https://hooks\\.slack\\.com/services/([A-Za-z0-9/]{20,})`, 'g'), isSecret: (text) => /\d/.test(text) },
  { name: 'google-key', hint: ['AIza', 'ya29.', 'GOCSPX-'], pattern: new RegExp(`${START}(?:AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])|ya29\\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})`, 'g') },
  { name: 'stripe-key', hint: ['_live_', '_test_', 'whsec_'], pattern: new RegExp(`${START}(?:[srp]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{20,})`, 'g') },
  { name: 'npm-token', hint: ['npm_', '_authToken'], pattern: new RegExp(`${START}npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])|:_authToken\\s*=\\s*["']?([A-Za-z0-9_+/=-]{20,})`, 'g'), isSecret: isRandom },
  { name: 'token', hint: ['hf_', 'gsk_', 'xai-', 'pplx-', 'r8_', 'SG.', 'pypi-', 'dop_v1_', 'shpat_', 'lin_api_', 'ntn_', 'hvs.', 'AGE-SECRET-KEY-', 'dckr_pat_', 'nvapi-', 'tvly-', 'figd_', 'rubygems_'], pattern: new RegExp(`${START}(?:hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{60,}|pplx-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|SG\\.[A-Za-z0-9_-]{20,24}\\.[A-Za-z0-9_-]{40,48}|pypi-[A-Za-z0-9_-]{50,}|dop_v1_[a-f0-9]{64}|shpat_[a-fA-F0-9]{32}|lin_api_[A-Za-z0-9]{40}|ntn_[A-Za-z0-9]{40,}|hvs\\.[A-Za-z0-9_-]{24,}|AGE-SECRET-KEY-1[A-Z0-9]{50,}|dckr_pat_[A-Za-z0-9_-]{24,}|nvapi-[A-Za-z0-9_-]{50,}|tvly-[A-Za-z0-9-]{28,}|figd_[A-Za-z0-9_-]{36,}|rubygems_[a-f0-9]{48})`, 'g') },
  { name: 'bot-token', hint: [':AA'], pattern: new RegExp(`${START}\\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])`, 'g') },
  { name: 'jwt', hint: ['eyJ'], pattern: new RegExp(`${START}eyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}`, 'g') },
  { name: 'authorization', hint: ['uthorization', 'UTHORIZATION', 'api-key', 'Api-Key', 'API-Key'], pattern: /(?:authorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+|x-api-key["']?\s*[:=]\s*["']?)([A-Za-z0-9._~+/=-]{16,})/gi, isSecret: isLiteral },
  { name: 'password', hint: ['://'], pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@'"<>]{0,100}:([^\s:/@'"<>]{8,200})@[A-Za-z0-9[]/gi, isSecret: isLiteral },
  { name: 'secret', hint: ['KEY', 'TOKEN', 'SECRET', 'PASSWORD', 'PASSWD'], pattern: /(?<![A-Za-z0-9_])[A-Z][A-Z0-9_]{0,60}(?:API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|SECRET_?KEY|TOKEN|SECRET|PASSWORD|PASSWD)\s*=\s*["']?([A-Za-z0-9_~+/=.!#^&-]{20,500})(?![A-Za-z0-9_(])/g, isSecret: (text) => isLiteral(text) && isRandom(text) },
]
