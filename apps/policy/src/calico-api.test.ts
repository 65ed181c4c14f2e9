import { describe, expect, it } from 'vitest';
import { chooseCalicoApi, discoverCalicoApi } from './calico-api.ts';

const groups = (...names: string[]) => ({
  kind: 'APIGroupList',
  groups: names.map((name) => ({ name, versions: [{ groupVersion: `${name}/v3`, version: 'v3' }] })),
});

describe('chooseCalicoApi', () => {
  it.each([
    { name: "Calico's API where it is served", answer: groups('apps', 'projectcalico.org'), want: 'projectcalico.org/v3' },
    { name: 'the custom resource where it is not', answer: groups('apps', 'crd.projectcalico.org'), want: 'crd.projectcalico.org/v1' },
    { name: 'the custom resource where there is no Calico yet', answer: groups(), want: 'crd.projectcalico.org/v1' },
    {
      name: "the custom resource where Calico's API has another version",
      answer: { groups: [{ name: 'projectcalico.org', versions: [{ version: 'v4' }] }] },
      want: 'crd.projectcalico.org/v1',
    },
    { name: 'the custom resource among groups that are none', answer: { groups: [null, 7, {}] }, want: 'crd.projectcalico.org/v1' },
  ])('takes $name', ({ answer, want }) => {
    expect(chooseCalicoApi(answer)).toBe(want);
  });

  it.each([{ answer: null }, { answer: 'ok' }, { answer: {} }, { answer: { groups: {} } }])('decides nothing by $answer', ({ answer }) => {
    expect(() => chooseCalicoApi(answer)).toThrow('no APIGroupList');
  });
});

it('waits for a successful answer, where the Go program would have fallen back', async () => {
  const answers = [Promise.reject(new Error('503')), Promise.resolve({}), Promise.resolve(groups('projectcalico.org'))];
  answers[0]!.catch(() => 'handled below');
  const failures: string[] = [];
  const api = await discoverCalicoApi(
    { getRaw: () => answers.shift()! },
    { signal: new AbortController().signal, retryMs: 1, onFailure: (error) => failures.push((error as Error).message) },
  );
  expect(api).toBe('projectcalico.org/v3');
  expect(failures).toEqual(['503', 'the answer to /apis is no APIGroupList']);
});
