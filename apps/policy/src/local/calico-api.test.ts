import { KubeApiError } from '@kube-semaphore/kube-client';
import { describe, expect, it } from 'vitest';
import { calicoApiOf, chooseCalicoApi } from './calico-api.ts';

const groups = (...names: string[]) => ({
  kind: 'APIGroupList',
  groups: names.map((name) => ({ name, versions: [{ groupVersion: `${name}/v3`, version: 'v3' }] })),
});

describe('chooseCalicoApi', () => {
  it.each([
    {
      name: "Calico's API if it is served",
      answer: groups('apps', 'projectcalico.org'),
      want: 'projectcalico.org/v3',
    },
    {
      name: 'the custom resource if it is not',
      answer: groups('apps', 'crd.projectcalico.org'),
      want: 'crd.projectcalico.org/v1',
    },
    { name: 'the custom resource without Calico', answer: groups(), want: 'crd.projectcalico.org/v1' },
    {
      name: "the custom resource if Calico's API has another version",
      answer: { groups: [{ name: 'projectcalico.org', versions: [{ version: 'v4' }] }] },
      want: 'crd.projectcalico.org/v1',
    },
    {
      name: 'the custom resource among invalid groups',
      answer: { groups: [null, 7, {}] },
      want: 'crd.projectcalico.org/v1',
    },
  ])('uses $name', ({ answer, want }) => {
    expect(chooseCalicoApi(answer)).toBe(want);
  });

  it.each([{ answer: null }, { answer: 'ok' }, { answer: {} }, { answer: { groups: {} } }])(
    'does not decide by $answer',
    ({ answer }) => {
      expect(() => chooseCalicoApi(answer)).toThrow('not an APIGroupList');
    },
  );
});

it('waits for a successful answer (Go used the other API)', async () => {
  const answers = [Promise.reject(new Error('503')), Promise.resolve({}), Promise.resolve(groups('projectcalico.org'))];
  answers[0]!.catch(() => 'handled below');
  const failures: string[] = [];
  const api = await calicoApiOf(
    'auto',
    { getRaw: () => answers.shift()! },
    { signal: new AbortController().signal, retryMs: 1, onFailure: (error) => failures.push((error as Error).message) },
  );
  expect(api).toBe('projectcalico.org/v3');
  expect(failures).toEqual(['503', 'the answer to /apis is not an APIGroupList']);
});

describe('calicoApiOf', () => {
  it.each([
    { name: 'no API where Calico is optional and missing', answer: groups('apps'), isOptional: true, want: undefined },
    {
      name: "Calico's API where it is optional and served",
      answer: groups('projectcalico.org'),
      isOptional: true,
      want: 'projectcalico.org/v3',
    },
    {
      name: 'the custom resource where it is optional and served',
      answer: groups('crd.projectcalico.org'),
      isOptional: true,
      want: 'crd.projectcalico.org/v1',
    },
    {
      name: 'the custom resource where Calico is not optional',
      answer: groups('apps'),
      isOptional: false,
      want: 'crd.projectcalico.org/v1',
    },
  ])('chooses $name', async ({ answer, isOptional, want }) => {
    const { signal } = new AbortController();
    const getRaw = async (path: string) => (path === '/apis' ? answer : {});
    expect(await calicoApiOf('auto', { getRaw }, { signal, onFailure: () => undefined, isOptional })).toBe(want);
  });

  const stored = '/apis/crd.projectcalico.org/v1/globalnetworksets?limit=1';
  const v3 = '/apis/projectcalico.org/v3/globalnetworksets?limit=1';
  const refusal = (status: number) => new KubeApiError('no', { status, reason: '' });

  it.each([
    { name: "Calico's API if its sets may be listed", refused: {}, want: 'projectcalico.org/v3' },
    {
      name: 'the custom resource if only that may be listed',
      refused: { [v3]: 403 },
      want: 'crd.projectcalico.org/v1',
    },
    {
      name: "Calico's API if nothing may be listed",
      refused: { [v3]: 403, [stored]: 403 },
      want: 'projectcalico.org/v3',
    },
    {
      name: "Calico's API without the custom resource",
      refused: { [v3]: 403, [stored]: 404 },
      want: 'projectcalico.org/v3',
    },
  ])('uses $name', async ({ refused, want }) => {
    const statuses = new Map<string, number>(Object.entries(refused));
    const getRaw = (path: string) => {
      const status = statuses.get(path);
      return status === undefined ? Promise.resolve(groups('projectcalico.org')) : Promise.reject(refusal(status));
    };
    expect(
      await calicoApiOf(
        'auto',
        { getRaw },
        { signal: new AbortController().signal, onFailure: () => expect.unreachable() },
      ),
    ).toBe(want);
  });

  it("uses Calico's API of a server that is still reading its roles", async () => {
    const refusals = [refusal(403)];
    const getRaw = (path: string) => {
      const failure = path === v3 ? refusals.pop() : undefined;
      return failure === undefined ? Promise.resolve(groups('projectcalico.org')) : Promise.reject(failure);
    };
    expect(
      await calicoApiOf(
        'auto',
        { getRaw },
        { signal: new AbortController().signal, onFailure: () => expect.unreachable() },
      ),
    ).toBe('projectcalico.org/v3');
  });

  it("doesn't go past Calico's API while that is away for a moment", async () => {
    const away = [refusal(503)];
    const getRaw = (path: string) => {
      const failure = path === v3 ? away.pop() : undefined;
      return failure === undefined ? Promise.resolve(groups('projectcalico.org')) : Promise.reject(failure);
    };
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => failures.push(error);
    expect(await calicoApiOf('auto', { getRaw }, { signal: new AbortController().signal, retryMs: 1, onFailure })).toBe(
      'projectcalico.org/v3',
    );
    expect(failures).toHaveLength(1);
  });
});
