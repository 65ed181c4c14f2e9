/** No decision is kept, so each reconcile decides about everything. */
export const noDecisions = { changedSlices: () => undefined, keep: () => {}, forget: () => {} };
