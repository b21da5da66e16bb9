/** What belongs to a session beside its log: every name begins with the log's own, so that removing finds all of it. */
export const lockOf = (file: string): string => `${stemOf(file)}.lock`
export const draftOf = (file: string): string => `${stemOf(file)}.draft`
/** The folder of its blobs. */
export const blobsOf = (file: string): string => `${stemOf(file)}.blobs`
/** The folder into which commands stream their output. */
export const outputsOf = (file: string): string => `${stemOf(file)}.out`

export const stemOf = (file: string): string => file.replace(/\.jsonl$/, '')
