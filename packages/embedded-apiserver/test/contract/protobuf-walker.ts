/** A field of a message: its number, and what it holds. */
export type Node = readonly [field: number, value: number | bigint | string | readonly Node[]];

/** Field numbers from here on belong to no version of Kubernetes: the embedded server puts them in to be skipped. */
const MADE_UP_FROM = 1000;

/**
 * Reads protobuf without knowing what it means: what isn't printable and can be read as a message is one, and the rest
 * is text. It shares no code with the writer that it checks. Made-up fields are skipped.
 */
export function walk(bytes: Uint8Array): readonly Node[] {
  const nodes = message(Buffer.from(bytes));
  if (!nodes) throw new Error('no protobuf');
  return nodes;
}

/** The object in an envelope: `k8s\0`, then an Unknown. */
export function unwrap(bytes: Uint8Array): { apiVersion: string; kind: string; raw: readonly Node[] } {
  const buffer = Buffer.from(bytes);
  if (buffer.toString('latin1', 0, 4) !== 'k8s\0') throw new Error('no magic number');
  const unknown = walk(buffer.subarray(4));
  const typeMeta = at(unknown, 1) as readonly Node[];
  return {
    apiVersion: at(typeMeta, 1) as string,
    kind: at(typeMeta, 2) as string,
    raw: at(unknown, 2) as readonly Node[],
  };
}

/** The first value of a field, down a path of field numbers. */
export function at(nodes: readonly Node[], ...path: readonly number[]): Node[1] | undefined {
  const [field, ...rest] = path;
  const value = nodes.find(([number]) => number === field)?.[1];
  return rest.length > 0 && Array.isArray(value) ? at(value as readonly Node[], ...rest) : value;
}

/** "ERROR" happens to be a message as well, while hardly a message has no byte below the space. */
const isPrintable = (bytes: Buffer) => bytes.every((byte) => byte >= 0x20);

function message(bytes: Buffer): Node[] | undefined {
  const nodes: Node[] = [];
  let offset = 0;
  const varint = (): bigint => {
    for (let value = 0n, shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[offset++];
      if (byte === undefined) throw new RangeError('varint');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('varint');
  };
  const cut = (length: number): Buffer => {
    if (offset + length > bytes.length) throw new RangeError('length');
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  try {
    while (offset < bytes.length) {
      const tag = varint();
      const field = Number(tag >> 3n);
      if (field === 0) return undefined;
      const value = read(Number(tag & 7n));
      if (field < MADE_UP_FROM) nodes.push([field, value]);
    }
  } catch (error) {
    // Not a message then: a text, which is the caller's to read.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return nodes;

  function read(wireType: number): Node[1] {
    if (wireType === 0) return varint();
    if (wireType === 1) return cut(8).readBigUInt64LE();
    if (wireType === 5) return cut(4).readUInt32LE();
    if (wireType !== 2) throw new RangeError('wire type');
    const inner = cut(Number(varint()));
    return (isPrintable(inner) ? undefined : message(inner)) ?? inner.toString();
  }
}
