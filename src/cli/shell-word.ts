/** One word of a command line that a person can copy. */
export const shellWord = (text: string): string => (/^[\w./~+:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
