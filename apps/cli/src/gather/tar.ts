const BLOCK = 512;

/** A file of a tar archive (POSIX ustar), which only its owner may read. @param path at most 100 bytes */
export function tarEntry(path: string, content: string, modified: Date): Buffer {
  const body = Buffer.from(content);
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;
  const fields: readonly (readonly [at: number, text: string])[] = [
    [0, path],
    [100, octal(0o600, 7)],
    [108, octal(0, 7)],
    [116, octal(0, 7)],
    [124, octal(body.length, 11)],
    [136, octal(Math.floor(modified.getTime() / 1_000), 11)],
    // The checksum counts itself as spaces.
    [148, ' '.repeat(8)],
    [156, '0'],
    [257, 'ustar\x0000'],
  ];
  for (const [at, text] of fields) header.write(text, at, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)} `, 148, 'latin1');
  return Buffer.concat([header, body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)]);
}

/** What ends an archive. */
export const TAR_END = Buffer.alloc(2 * BLOCK);
