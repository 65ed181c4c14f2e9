const FILE_HEADER = 24;
const RECORD_HEADER = 16;
const MAGIC = 0xa1b2c3d4;

/**
 * The frames in a capture file of tcpdump (pcap, little-endian, which is what x86 and arm64 write), oldest first. A
 * incomplete record at the end of a file is skipped.
 *
 * @throws {Error} if the file isn't one
 */
export function readPcap(file: Buffer): readonly Buffer[] {
  if (file.length < FILE_HEADER || file.readUInt32LE(0) !== MAGIC) throw new Error('not a capture file');
  const frames: Buffer[] = [];
  let at = FILE_HEADER;
  while (at + RECORD_HEADER <= file.length) {
    const start = at + RECORD_HEADER;
    const end = start + file.readUInt32LE(at + 8);
    if (end > file.length) break;
    frames.push(file.subarray(start, end));
    at = end;
  }
  return frames;
}
