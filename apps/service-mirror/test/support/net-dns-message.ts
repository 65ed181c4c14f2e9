/** DNS messages as in RFC 1035, for the types that Services have: node:dns doesn't tell whose record an answer is. */

/** Numbers of record types. */
const TYPES = { A: 1, AAAA: 28, SRV: 33 } as const;

export type RecordType = keyof typeof TYPES;

/** Codes of answers; others are left as numbers. */
const CODES: Readonly<Record<number, string>> = { 0: 'NOERROR', 2: 'SERVFAIL', 3: 'NXDOMAIN' };

const OPT = 41;
const HEADER_BYTES = 12;

/** Sections as sorted lines, each an owner's name, a type and a value: `web.default.svc.cluster.c2 SRV 8080 a.web.…`. */
export type DnsAnswer = {
  readonly status: string;
  readonly answers: readonly string[];
  /** Addresses of names in the answers. */
  readonly additional: readonly string[];
};

/** Asks one question, and tells that a long answer may come. */
export function encodeQuery(name: string, type: RecordType): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'));
  const header = Buffer.from([0x5e, 0x3a, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
  const question = Buffer.concat([...labels, Buffer.from([0, 0, TYPES[type], 0, 1])]);
  return Buffer.concat([header, question, Buffer.from([0, 0, OPT, 16, 0, 0, 0, 0, 0, 0, 0])]);
}

/** @throws {Error} if the answer was cut off, or has a record of a type that nobody asks for */
export function decodeAnswer(message: Buffer): DnsAnswer {
  if ((message.readUInt8(2) & 2) !== 0) throw new Error('the answer was truncated');
  const code = message.readUInt8(3) & 15;
  const [questions, answers, authorities, additionals] = [4, 6, 8, 10].map((at) => message.readUInt16BE(at));
  let at = HEADER_BYTES;
  for (let i = 0; i < Number(questions); i++) at = readName(message, at).end + 4;
  const section = (count = 0): readonly string[] => {
    const lines: string[] = [];
    for (let i = 0; i < count; i++) {
      const record = readRecord(message, at);
      at = record.end;
      if (record.line !== undefined) lines.push(record.line);
    }
    return lines.toSorted();
  };
  const answered = section(answers);
  // Whose zone it is isn't of interest.
  section(authorities);
  return { status: CODES[code] ?? String(code), answers: answered, additional: section(additionals) };
}

function readRecord(message: Buffer, at: number): { line: string | undefined; end: number } {
  const { name, end: fixed } = readName(message, at);
  const type = message.readUInt16BE(fixed);
  const data = fixed + 10;
  const end = data + message.readUInt16BE(fixed + 8);
  const known = Object.entries(TYPES).find(([, number]) => number === type);
  if (known === undefined) return { line: undefined, end };
  return { line: `${name} ${known[0]} ${valueOf(message, known[1], data, end)}`, end };
}

function valueOf(message: Buffer, type: number, data: number, end: number): string {
  if (type === TYPES.A) return [...message.subarray(data, end)].join('.');
  if (type === TYPES.AAAA) {
    const groups = Array.from({ length: 8 }, (_, i) => message.readUInt16BE(data + 2 * i).toString(16));
    // The WHATWG's URL knows the short form.
    return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
  }
  return `${message.readUInt16BE(data + 4)} ${readName(message, data + 6).name}`;
}

function readName(message: Buffer, at: number): { name: string; end: number } {
  const length = message.readUInt8(at);
  if (length === 0) return { name: '', end: at + 1 };
  // The rest of it was said before, there.
  if (length >= 0xc0) return { name: readName(message, message.readUInt16BE(at) & 0x3f_ff).name, end: at + 2 };
  const rest = readName(message, at + 1 + length);
  const label = message.toString('latin1', at + 1, at + 1 + length);
  return { name: rest.name === '' ? label : `${label}.${rest.name}`, end: rest.end };
}
