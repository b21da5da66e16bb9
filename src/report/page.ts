/** A text in HTML, in an element or in an attribute. Everything that comes from a session goes through this. */
export const escape = (text: string): string => text.replace(/[&<>"'`]/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** One file without anything from elsewhere. No script can run in it, should something ever get past `escape`. */
export function* page(title: string, style: string, body: Iterable<string>): Generator<string> {
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escape(title)}</title>
<style>${STYLE}${style}</style>
</head>
<body>
<main>
`
  for (const piece of body) yield piece
  yield '</main>\n</body>\n</html>\n'
}

const STYLE = `
:root { color-scheme: light dark; --text: #1d2127; --soft: #5b6470; --line: #d9dde3; --box: #f5f6f8; --ok: #1a7f37; --bad: #b42318; --user: #eef4ff; --add: #e6f6ea; --del: #fdebea; }
@media (prefers-color-scheme: dark) { :root { --text: #e3e6ea; --soft: #98a1ad; --line: #363c45; --box: #1d2127; --ok: #57c278; --bad: #ff8379; --user: #1b2536; --add: #15301e; --del: #3a1d1c; } body { background: #14171b; } }
body { margin: 0; color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
pre, code { font: .85rem/1.45 ui-monospace, monospace; }
pre { margin: .5rem 0; padding: .6rem .8rem; background: var(--box); border-radius: .4rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; } th, td { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.soft { color: var(--soft); } .ok { color: var(--ok); } .bad { color: var(--bad); } .number { text-align: right; font-variant-numeric: tabular-nums; }
`
