/** Both API servers of a program, and what its metrics call them. */
export const sides = { remote: 'c2', local: 'local' } as const;

export type Side = keyof typeof sides;

/** For tables of tests. */
export const bothSides: readonly { readonly side: Side }[] = [{ side: 'remote' }, { side: 'local' }];
