/** DNS messages for the record types of Services: node:dns doesn't return the owner of a record. */
import { type Answer, decode, encode, RECURSION_DESIRED } from 'dns-packet';

export type RecordType = 'A' | 'AAAA' | 'SRV';

/** What `dns-packet` decodes; its types don't know the status. */
type Message = ReturnType<typeof decode> & { readonly rcode: string };

/** Sections as sorted lines, each an owner's name, a type and a value: `web.default.svc.cluster.c2 SRV 8080 a.web.…`. */
export type DnsAnswer = {
  /** `NOERROR`, `NXDOMAIN`, `SERVFAIL` and so on. */
  readonly status: string;
  readonly answers: readonly string[];
  /** Addresses of names in the answers. */
  readonly additional: readonly string[];
};

/** Allows an answer of 4096 bytes instead of 512. */
const longAnswers = {
  name: '.',
  type: 'OPT',
  udpPayloadSize: 4_096,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
} as const satisfies Answer;

/** Asks one question, as resolvers do. */
export function encodeQuery(name: string, type: RecordType): Buffer {
  const flags = RECURSION_DESIRED;
  return encode({ type: 'query', id: 1, flags, questions: [{ name, type }], additionals: [longAnswers] });
}

/**
 * Records of other types than those of Services are skipped.
 *
 * @throws {Error} if it is no DNS message, or was cut off
 */
export function decodeAnswer(message: Buffer): DnsAnswer {
  const { flag_tc: isTruncated, rcode, answers, additionals } = decode(message) as Message;
  if (isTruncated) throw new Error('the answer was truncated');
  return { status: rcode, answers: linesOf(answers), additional: linesOf(additionals) };
}

function linesOf(records: readonly Answer[] = []): readonly string[] {
  return records.flatMap(lineOf).toSorted();
}

function lineOf(record: Answer): readonly string[] {
  if (record.type === 'SRV') return [`${record.name} SRV ${record.data.port} ${record.data.target}`];
  return record.type === 'A' || record.type === 'AAAA' ? [`${record.name} ${record.type} ${record.data}`] : [];
}
