import { describe, expect, it } from 'vitest';
import { expand, fieldAt, fieldsOf, type PodFacts, variablesOf } from './environment.ts';

const pod: PodFacts = {
  name: 'agent-x',
  namespace: 'kube-system',
  uid: 'u',
  nodeName: 'n1',
  serviceAccountName: 'agent',
  ips: ['10.0.0.1', 'fd00::1'],
  hostIPs: ['172.31.0.1'],
};
const fields = fieldsOf(pod);

describe('expand', () => {
  it.each([
    { name: 'takes a variable', text: '-node=$(NODE)', want: '-node=n1' },
    { name: 'takes several', text: '$(NODE)/$(NODE)', want: 'n1/n1' },
    { name: 'leaves what nobody knows', text: '$(OTHER)', want: '$(OTHER)' },
    { name: 'takes two dollars for one', text: '$$(NODE) $$', want: '$(NODE) $' },
    { name: 'leaves what is no reference', text: '$NODE $', want: '$NODE $' },
  ])('$name', ({ text, want }) => {
    expect(expand(text, { NODE: 'n1' })).toBe(want);
  });
});

describe('variablesOf', () => {
  const container = { name: 'a', image: 'a' };

  it('has values, fields, and what all containers have', () => {
    const env = [
      { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIPs' } } },
      { name: 'TEXT', value: '$(NODE):$(HOST):$(LATER)' },
      { name: 'LATER', value: 'x' },
      { name: 'EMPTY' },
    ];
    expect(variablesOf({ ...container, env }, fields, { HOST: 'h' })).toEqual({
      HOST: 'h',
      NODE: 'n1',
      IP: '10.0.0.1,fd00::1',
      TEXT: 'n1:h:$(LATER)',
      LATER: 'x',
      EMPTY: '',
    });
  });

  it.each([
    {
      name: 'a field',
      valueFrom: { fieldRef: { fieldPath: 'spec.priority' } },
      words: 'the downward API here has no spec.priority',
    },
    { name: 'a source', valueFrom: {}, words: 'variable X has a source that is not known here' },
  ])('refuses $name that it does not know', ({ valueFrom, words }) => {
    expect(() => variablesOf({ ...container, env: [{ name: 'X', valueFrom }] }, fields, {})).toThrow(words);
  });
});

it('knows where the pod is', () => {
  expect(fieldAt(fields, 'status.hostIP')).toBe('172.31.0.1');
});
