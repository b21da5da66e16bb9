import type { AgentDeps } from './work.ts'
import type { Ledger } from './ledger.ts'

/** A `!` command of the person: it is theirs, so no gate asks; it is recorded, and with `model` the model is shown it. On `signal` it is stopped, and recorded as far as it came. */
export async function runShell(ledger: Ledger, deps: AgentDeps, command: string, model: boolean, signal: AbortSignal): Promise<void> {
  const shell = deps.tools.find((tool) => tool.name === 'shell')
  if (!shell) throw new Error('the shell tool is switched off')
  const call = deps.host.id()
  const tell = (text: string, more?: { command: string | null }): void => ledger.emit({ type: 'output', run: '', call, text, ...more })
  tell('', { command })
  try {
    const prepared = await shell.prepare({ command }, { call, root: deps.policy.root, cwd: deps.cwd, seen: () => undefined, images: false, signal })
    if ('refused' in prepared) throw new Error(prepared.refused)
    const output = await prepared.run(signal, { output: (text) => tell(text), spawned: () => undefined }, { sandbox: false })
    ledger.append({ type: 'shell', call, command, exit: output.exit ?? null, text: deps.redact(output.text), model, ...(output.output ? { output: output.output } : {}) })
  } catch (error) {
    tell('', { command: null })
    throw error
  }
}
