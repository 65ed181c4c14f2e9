/** RFC 3339 to the second, as the times in metadata are. */
export const timestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
