import { describe, expect, it } from 'vitest';
import {
  bool,
  type Fields,
  int,
  intOrString,
  json,
  message,
  messages,
  optionalBool,
  string,
  stringMap,
  strings,
  time,
} from './fields.ts';
import { projectJson } from './json.ts';

const fields = {
  name: string(1),
  hostNetwork: bool(2),
  count: int(3),
  labels: stringMap(4),
  nets: strings(5),
  owners: json,
  status: message(6, { podIPs: messages(12, { ip: string(1) }) }),
  ready: optionalBool(7),
  targetPort: intOrString(8),
  creationTimestamp: time(9),
} as const satisfies Fields;

describe('projectJson', () => {
  it('keeps only the fields of the table', () => {
    const value = {
      name: 'a',
      extra: 1,
      owners: [{ uid: 'u' }],
      status: { podIPs: [{ ip: '10.0.0.1', x: 1 }], phase: 'Running' },
    };
    expect(projectJson(value, fields, 'Thing')).toStrictEqual({
      name: 'a',
      hostNetwork: false,
      count: 0,
      labels: {},
      nets: [],
      owners: [{ uid: 'u' }],
      status: { podIPs: [{ ip: '10.0.0.1' }] },
      ready: undefined,
      targetPort: 0,
      creationTimestamp: 0,
    });
  });

  it.each([null, undefined])('treats %s as a missing field', (missing) => {
    const value = { name: missing, labels: missing, nets: missing, status: missing };
    expect(projectJson(value, fields, 'Thing')).toMatchObject({
      name: '',
      labels: {},
      nets: [],
      status: { podIPs: [] },
    });
  });

  it.each([
    { text: '2026-01-01T00:00:00Z', want: Date.UTC(2026, 0, 1) },
    { text: '2026-01-01T01:00:00+01:00', want: Date.UTC(2026, 0, 1) },
    { text: '1969-12-31T23:59:59Z', want: -1000 },
  ])('reads $text as milliseconds since 1970', ({ text, want }) => {
    expect(projectJson({ creationTimestamp: text }, fields, 'Thing').creationTimestamp).toBe(want);
  });

  it.each([
    { value: 'x', reason: 'JSON: Thing is not an object' },
    { value: [], reason: 'JSON: Thing is not an object' },
    { value: { name: 1 }, reason: 'JSON: Thing.name is not a string' },
    { value: { hostNetwork: 'yes' }, reason: 'JSON: Thing.hostNetwork is not a boolean' },
    { value: { count: 1.5 }, reason: 'JSON: Thing.count is not an integer' },
    { value: { labels: { a: 1 } }, reason: 'JSON: Thing.labels is not a map of strings' },
    { value: { nets: ['a', 1] }, reason: 'JSON: Thing.nets is not an array of strings' },
    { value: { ready: 0 }, reason: 'JSON: Thing.ready is not a boolean' },
    { value: { targetPort: 1.5 }, reason: 'JSON: Thing.targetPort is not an integer or a string' },
    { value: { creationTimestamp: 5 }, reason: 'JSON: Thing.creationTimestamp is not a time' },
    { value: { creationTimestamp: '1' }, reason: 'JSON: Thing.creationTimestamp is not a time' },
    { value: { creationTimestamp: '2026-13-01T00:00:00Z' }, reason: 'JSON: Thing.creationTimestamp is not a time' },
    { value: { status: { podIPs: {} } }, reason: 'JSON: Thing.status.podIPs is not an array' },
  ])('refuses $value: $reason', ({ value, reason }) => {
    expect(() => projectJson(value, fields, 'Thing')).toThrow(reason);
  });
});
