import type { Command } from '../core/command.ts'
import type { Budget } from '../core/limits.ts'
import type { AgentEvent } from '../core/ports.ts'
import type { Image, Mode, OutcomeStatus, SessionRecord, UnknownRecord } from '../core/record.ts'
import type { TreePoint } from '../core/tree.ts'

/**
 * What the screen needs from outside. `cli` implements it; the screen knows no agent, no file and no provider.
 * Functions that answer `Promise` may reject with an Error whose message is one sentence for the person: the
 * screen shows it and goes on. Those that answer `void` must not throw.
 */
export interface UiHost {
  about: About
  /** What a person should know from the beginning: one sentence each. */
  warnings: readonly string[]
  /** What `.agentrc` says about the screen. */
  settings: ScreenSettings
  sessions: Sessions
  models: () => Promise<ModelChoice[]>
  /** Rejects with what is wrong with the name, or with the key that is missing. Asks no server. */
  mustBeUsable: (model: string) => Promise<void>
  /** Tokens that a model takes; null: unknown. Answers at once. */
  contextWindow: (model: string) => number | null
  /** Paths below the root that fit what stands behind `@`, best first, at most `most`. Folders end in `/`. */
  files: (query: string, most: number, signal: AbortSignal) => Promise<string[]>
  /** What a prompt can be sent with: the images that it names as `@file`, and the one in the clipboard. */
  images: { named: (text: string) => Promise<Image[]>; clipboard: () => Promise<Image> }
  /** Earlier prompts of this root, oldest first; `append` writes at once. */
  history: { load: () => Promise<string[]>; append: (text: string) => void }
  /** The terminal is released while this runs. Undefined: the editor failed or nothing was saved. */
  externalEditor: (text: string) => Promise<string | undefined>
  /** Says where the text went (`clipboard`, `terminal`), for the notice. */
  copy: (text: string) => Promise<string>
  /** `/diff`, `/cost` and so on: the commands whose answer is text. A name that the host does not answer is a mistake in the table. */
  answer: (name: TextCommand, argument: string, signal: AbortSignal) => Promise<Said>
  tree: Tree
  /** Files as they were: before the last run that changed some, before the last undo, or right after a record. Null: there is nothing of the kind. */
  putBack: (what: PutBack, signal: AbortSignal) => Promise<FilePlan | null>
  /** Commands that the project and the person wrote; `expand` gives the prompt to send. */
  custom: { list: () => Promise<CustomCommand[]>; expand: (name: string, argument: string) => Promise<string> }
  /** The question to ask before anything of the folder is used; null: it is answered already, or there is nothing to trust. */
  trust: TrustQuestion | null
  /** Set where no model is configured: the screen then begins with the ways to get one. */
  firstRun: FirstRun | null
  /** The full text behind a row: the last output, for the pager. Undefined: there is none. */
  output: (sha256: string) => Promise<string | undefined>
  /** Stored so that the next start begins with it. */
  remember: (setting: { theme: string }) => void
  /** The terminal is clean when this is called. The host records what is open and ends the process. */
  leave: (because: 'quit' | 'interrupt' | 'closed') => void
}

/** One session that the screen is connected to. After a switch the screen uses the new one and drops this. */
export interface Connection {
  session: string
  /** What is in the log; it grows with it. The first view is folded from it, and what can be gone back to is read from it. */
  records: readonly (SessionRecord | UnknownRecord)[]
  /** Places in the log that are not as they were written: shown between its records. */
  damage?: readonly { after: number; seq?: number; why: string }[]
  /** Set where `records` is only the end of a large session, which can be looked at: reads all of it, when it is called. */
  rest?: () => Promise<Connection>
  /** Every event after `records`: none is lost when it is called in the tick that made the connection. */
  subscribe: (listener: (event: AgentEvent) => void) => () => void
  /** Never throws. When it returns, what the command says is in the log and its events have come, or an `error` event said why not. */
  send: (command: Command) => void
  /** The unsent text, in a file beside the log. `save` is synchronous, so that it holds on the way out; '' removes it. It answers why that could not be done, else null. */
  draft: { load: () => string; save: (text: string) => string | null }
  /** Why this session can only be read (another writer, a newer version). */
  readOnly?: string
  /** Somebody else may be going on with it at this moment. */
  live?: boolean
  /** Releases the log; called when the screen has switched to another connection. */
  close: () => void
}

export interface About {
  version: string
  root: string
  cwd: string
  /** The folder as a person writes it (`~/src/thing`), and the branch. */
  folder: string
  branch: string | null
  /** `provider/model`; null: none configured. */
  model: string | null
  mode: Mode
  /** The scripted model of `tiller demo`: the screen says what to try. */
  demo: boolean
}

export interface ScreenSettings {
  /** Action name -> keys (`ctrl+o`); an empty list takes the key away. Overrides the table in keys.ts. */
  keys: Readonly<Record<string, string | readonly string[]>>
  theme: string
  /** On the alternate screen. */
  fullscreen: boolean
  /** Append-only text without animation: a screen reader, TERM=dumb. */
  plain: boolean
  notify: boolean
  /** Of one run, and of the session. The status line shows them before they bite. */
  limits: Budget & { session: Budget }
}

export interface SessionChoice {
  /** What names it to the host: an id can stand twice, in two work trees. */
  key: string
  id: string
  /** Its title, else the first words of its first input. */
  title: string
  /** The first words, which a search finds also where there is a title. */
  words: string
  /** UTC milliseconds of its last record. */
  at: number
  bytes: number
  outcome: OutcomeStatus | null
  /** Who has it open, this program included; null: nobody. */
  held: string | null
  /** US dollars; null: not known (yet). `unknown`: some of it has no known price, so there is more. */
  cost: { usd: number; unknown: boolean } | null
  branch: string | null
  /** Its working directory, as a person writes it, where that is not this one. */
  folder: string | null
  /** It belongs to another root, such as another work tree of the repository. `command` goes on with it there; null: that folder is gone. */
  elsewhere: { command: string | null } | null
  /** Why it cannot be read. */
  unreadable: string | null
}

/** All but `list` take a choice's `key`. */
export interface Sessions {
  /** Those of this root and of the repository's other work trees, piece by piece. After the last of them come some again of which more is known. */
  list: (signal: AbortSignal) => AsyncIterable<{ sessions: readonly SessionChoice[]; isLast?: boolean }>
  /** In all that was said, called and shown in these sessions, one after another: at most one hit of each. */
  search: (keys: readonly string[], query: string, signal: AbortSignal) => AsyncIterable<{ key: string; excerpt: string }>
  /** The one that a person means with a path, an id or the beginning of one. Rejects with suggestions. */
  find: (wanted: string) => Promise<SessionChoice>
  open: (key: string) => Promise<Connection>
  fresh: () => Promise<Connection>
  /** A copy of this session's live path up to and with `seq` (the head without it), which belongs here. Also takes an id. */
  fork: (key: string, seq?: number) => Promise<Connection>
  /** Rejects where another program has it open. */
  rename: (key: string, title: string) => Promise<void>
  /** With all that lies beside it. Rejects where somebody has it open. */
  remove: (key: string) => Promise<void>
  /** Written to a file that is not there yet, in the form that its ending says. Resolves to where it is. */
  exportTo: (key: string, file: string) => Promise<string>
}

export interface Tree {
  /** Where the conversation can be taken back to, as it is drawn: on the live path and on those that were left. */
  points: (signal: AbortSignal) => Promise<TreePoint[]>
  /** What going back to this record would leave out, because it cannot be read: a sentence, or null. */
  unreadable: (to: number) => string | null
}

export type PutBack = 'last' | 'redo' | { to: number }

/** What putting files back would do. Nothing is done yet. */
export interface FilePlan {
  /** What the run was about, where there is one; as it was written. */
  about: string | null
  entries: readonly FileEntry[]
  /** What is not undone. */
  notes: readonly string[]
  /** Afterwards it can be taken back. */
  redoable: boolean
  diff: () => Promise<string>
  /** Puts back those of these ids, and says which were left after all. Rejects when a run is active. */
  carryOut: (ids: ReadonlySet<string>) => Promise<{ done: number; left: readonly { path: string; why: string }[] }>
}

export interface FileEntry {
  id: string
  /** Relative to the root. */
  path: string
  action: 'restore' | 'delete'
  /** `ask`: a command may have changed it, or somebody else while one ran. `refuse`: somebody else changed it since. `lost`: it cannot be put back. */
  verdict: 'yes' | 'ask' | 'refuse' | 'lost'
  why: string
}

export interface ModelChoice {
  /** `provider/model`. */
  id: string
  /** Window, price, where it runs. */
  note: string
  /** It has its key or needs none. */
  ready: boolean
}

/** Slash commands that the host answers with text. */
export type TextCommand = 'context' | 'cost' | 'undo' | 'diff' | 'export' | 'mcp' | 'config' | 'doctor' | 'trust'

export interface Said {
  text: string
  as: 'text' | 'markdown' | 'diff'
}

export interface CustomCommand {
  name: string
  about: string
  /** What to write behind it, as in `<file>`. */
  argument?: string
}

export interface TrustQuestion {
  folder: string
  /** What the folder would bring: `.agentrc (2 hooks, 1 MCP server)`, one line each. */
  brings: readonly string[]
  answer: (trusted: boolean) => void
}

export interface FirstRun {
  /** How to set a key: the variable and the provider it is for. */
  keys: readonly { variable: string; provider: string }[]
  /** Servers that answer on loopback, as they are found. Never rejects. */
  discover: (signal: AbortSignal) => Promise<{ name: string; url: string; models: readonly string[] }[]>
  use: (model: string) => Promise<Connection>
  demo: () => Promise<Connection>
}
