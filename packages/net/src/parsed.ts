/**
 * The outcome of reading something that somebody else wrote: bad input is a value, so that one malformed object
 * never stops its neighbours. `reason` is a sentence without a full stop that names what is wrong.
 */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

/** A value that was read. */
export const good = <T>(value: T): Parsed<T> => ({ ok: true, value });

/** What is wrong with the text, instead of a value. */
export const bad = (reason: string): { readonly ok: false; readonly reason: string } => ({ ok: false, reason });
