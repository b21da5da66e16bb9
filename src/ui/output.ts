import type { SessionRecord } from '../core/record.ts'
import type { Shown } from './screen.ts'
import { hint, type Stage } from './stage.ts'

/** The newest output in the pager: of the command that runs, else of what ended last. */
export async function showOutput(stage: Stage): Promise<void> {
  const { output, view } = stage.store.get()
  const running = view.live.calls.findLast(({ output: text }) => text !== '')
  if (running) return stage.terminal.page(`${running.name} ${running.summary}`, running.output)
  if (!output) return hint(stage, 'There is no output yet.')
  const whole = output.sha256 === null ? undefined : await stage.host.output(output.sha256)
  await stage.terminal.page(output.title, whole ?? output.text)
}

/** What a record gives to show; null: nothing. */
export function outputOf(record: SessionRecord): Shown | null {
  switch (record.type) {
    case 'result':
      return record.text === '' && !record.output ? null : { title: 'Last output', text: record.diff ?? record.text, sha256: record.diff ? null : (record.output?.sha256 ?? null) }
    case 'shell':
    case 'check':
      return { title: record.command, text: record.text ?? '', sha256: record.output?.sha256 ?? null }
    default:
      return null
  }
}
