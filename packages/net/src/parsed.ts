/**
 * The result of parsing foreign input. Bad input is a value, so that one invalid object never stops its neighbours.
 * `reason` is a sentence without a full stop that names what is wrong.
 */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

/** The parsed value. */
export const good = <T>(value: T): Parsed<T> => ({ ok: true, value });

/** What is wrong with the input. */
export const bad = (reason: string): { readonly ok: false; readonly reason: string } => ({ ok: false, reason });
