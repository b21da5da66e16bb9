import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** When a process began, in a form that only equals itself: with the pid it names one process for good. Null: there is no such process. */
export function processStart(pid: number): string | null {
  if (!isAlive(pid)) return null
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid)
}

/** Whether the very process lives that had this pid and this start. Without a start, any process of that pid counts. */
export function isSameProcess(pid: number, start: string | null): boolean {
  const now = processStart(pid)
  return now !== null && (start === null || now === '' || now === start)
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Field 22, ticks since the machine started. The name in brackets may hold anything, so fields are counted after its end. A zombie is dead. */
function fromProc(pid: number): string | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return isAlive(pid) ? '' : null
  }
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? '')
}

/** Empty where nobody can say: then only the pid counts. */
function fromPs(pid: number): string | null {
  try {
    const text = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' }, stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    return text === '' || text.startsWith('Z') ? null : text.replace(/^\S+\s+/, '')
  } catch {
    return isAlive(pid) ? '' : null
  }
}
