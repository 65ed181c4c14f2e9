/** RFC 3339 with seconds, as in metadata. */
export const timestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
