import { describe, expect, it } from 'vitest';
import { negotiate } from './negotiation.ts';

const protobuf = 'application/vnd.kubernetes.protobuf';

describe('negotiate', () => {
  it.each([
    { accept: undefined, want: 'json' },
    { accept: '', want: 'json' },
    { accept: '*/*', want: 'json' },
    { accept: `${protobuf},application/json`, want: 'protobuf' },
    { accept: `${protobuf};stream=watch`, want: 'protobuf' },
    { accept: `application/json, ${protobuf}`, want: 'json' },
    { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json', want: 'json' },
    { accept: `text/html, ${protobuf};q=0.9`, want: 'protobuf' },
  ])('answers $accept with $want', ({ accept, want }) => {
    expect(negotiate(accept, ['json', 'protobuf'])).toBe(want);
  });

  it('falls back to JSON for a resource without protobuf, if the client accepts it', () => {
    expect(negotiate(`${protobuf},application/json`, ['json'])).toBe('json');
    expect(() => negotiate(protobuf, ['json'])).toThrow(
      'only the following media types are accepted: application/json',
    );
  });
});
