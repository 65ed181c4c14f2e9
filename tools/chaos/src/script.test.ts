import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { policy } from './subjects/policy.ts';
import { serviceMirror } from './subjects/service-mirror.ts';
import { wireguard } from './subjects/wireguard.ts';
import { rotating, witnessing } from './subjects/wireguard-variants.ts';
import { kindOf, type Round, script } from './script.ts';

const first = (count: number, seed: number, subject: typeof policy): Round[] => {
  const rounds = script(subject, seed);
  return Array.from({ length: count }, () => rounds.next().value);
};

describe.each([policy, serviceMirror, wireguard, rotating, witnessing])('the script of $app', (subject) => {
  it('is the same for the same seed, also after it was JSON, and another one for another seed', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const rounds = first(2, seed, subject);
        expect(first(2, seed, subject)).toEqual(rounds);
        expect(JSON.parse(JSON.stringify(rounds))).toEqual(rounds);
        expect(first(2, seed + 1, subject)).not.toEqual(rounds);
      }),
      { numRuns: 20 },
    );
  });

  it('has every kind of event, and never a change of what stays', () => {
    const steps = first(60, 1, subject).flat();
    const kinds = new Set(steps.map((step) => kindOf(step, subject)));
    for (const kind of [
      'API server killed',
      'etcd of the local cluster restored',
      'etcd of a remote restored',
      'replica killed',
      'replica stopped',
      'fault: stall of answers',
      'token revoked, and replaced',
      'fault: certificate of another CA',
      'CA replaced, known before',
      'CA replaced, known after',
      'clock set',
      'memory of a replica too small',
      'remotes of the file',
      ...(subject === rotating ? ['keys asked for'] : ['edit of our object', 'delete of our object']),
      ...subject.breaks,
      ...(subject.settings.length > 1 ? ['settings of the file'] : []),
    ])
      expect(kinds).toContain(kind);
    const stays = new Set(subject.staying.map(({ cluster, collection, name }) => `${cluster} ${collection}/${name}`));
    const changed = steps.flatMap((step) =>
      step.do === 'change' ? `${step.change.cluster} ${step.change.collection}/${step.change.name}` : [],
    );
    expect(changed.filter((each) => stays.has(each))).toEqual([]);
  });
});

it("has no slice of Kubernetes' own controller for a Service without a selector", () => {
  const bare = first(60, 1, serviceMirror)
    .flat()
    .flatMap((step) =>
      step.do === 'change' && step.change.name.startsWith('bare-') ? (step.change.object ?? []) : [],
    );
  const managers = bare.map(
    (slice) => (slice as unknown as KubeObject).metadata.labels?.['endpointslice.kubernetes.io/managed-by'],
  );
  expect(new Set(managers)).toEqual(new Set(['someone']));
});
