const PROGRAMS: readonly (readonly [string, ...string[]])[] = [['pbcopy'], ['wl-copy'], ['xclip', '-selection', 'clipboard'], ['xsel', '-ib']]

/** By a program of the desktop where there is one, else by the terminal itself (OSC 52), which also works over ssh. */
export async function copyText(text: string): Promise<string> {
  const { execa } = await import('execa')
  for (const [program, ...args] of PROGRAMS) {
    const { failed } = await execa(program, args, { input: text, reject: false, timeout: 2_000, stdout: 'ignore', stderr: 'ignore' })
    if (!failed) return 'clipboard'
  }
  process.stdout.write(`\x1b]52;c;${Buffer.from(text).toString('base64')}\x07`)
  return 'clipboard, if your terminal takes it (OSC 52)'
}

const GIVERS: readonly (readonly [string, ...string[]])[] = [['pngpaste', '-'], ['wl-paste', '-t', 'image/png'], ['xclip', '-selection', 'clipboard', '-t', 'image/png', '-o']]

/** As PNG; undefined: there is none, or no program here that gives it. */
export async function readClipboardImage(): Promise<Uint8Array | undefined> {
  const { execa } = await import('execa')
  for (const [program, ...args] of GIVERS) {
    const { failed, stdout } = await execa(program, args, { encoding: 'buffer', reject: false, timeout: 5_000, maxBuffer: 100_000_000, stderr: 'ignore', stdin: 'ignore' })
    if (!failed && stdout.length > 0) return stdout
  }
  return undefined
}
