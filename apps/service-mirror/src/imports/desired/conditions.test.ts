import type { Condition } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import {
  conditionChange,
  conflictCondition,
  conflictReasons,
  type DesiredCondition,
  exportConditions,
  withoutOurs,
} from './conditions.ts';
import { CONFLICT_REASONS } from './conflicts.ts';

const NONE = { oldest: 'c1', unknown: [], present: [] };
const noConflicts = { type: 'Conflict', status: 'False', reason: 'NoConflicts', message: '' } as const;

describe('conflictCondition', () => {
  const ports = { reason: 'PortConflict', field: 'ports', clusters: ['c2', 'c3'] };
  const type = { reason: 'TypeConflict', field: 'type', clusters: ['c3'] };

  it('is False without conflicts', () => {
    expect(conflictCondition([], NONE)).toEqual(noConflicts);
  });

  it('joins all reasons by commas, and names clusters and fields', () => {
    expect(conflictCondition([ports, type], NONE)).toEqual({
      type: 'Conflict',
      status: 'True',
      reason: 'PortConflict,TypeConflict',
      message: 'different ports in c2, c3; different type in c3; c1 has the oldest export, which decides',
    });
  });

  it('has the nine reasons of the API, in its order, which fit into a condition', () => {
    const all = CONFLICT_REASONS.map((reason) => ({
      reason,
      field: 'sessionAffinityConfig',
      clusters: Array.from({ length: 200 }, (_, i) => `${i}`.padStart(63, 'c')),
    }));
    const { reason, message } = conflictCondition(all, NONE);
    expect(reason).toBe(
      'PortConflict,TypeConflict,SessionAffinityConflict,SessionAffinityConfigConflict,AnnotationsConflict,' +
        'LabelsConflict,InternalTrafficPolicyConflict,TrafficDistributionConflict,IPFamilyConflict',
    );
    expect(reason.length).toBeLessThanOrEqual(1024);
    expect(reason).toMatch(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/);
    expect(message.length).toBeLessThanOrEqual(32_768);
    expect(message).toContain('and 180 more');
  });

  it('keeps reasons while an exporting cluster is unknown, as the conflict may be with it', () => {
    const unknown = { oldest: undefined, unknown: ['c4'], present: ['LabelsConflict', 'PortConflict'] };
    expect(conflictCondition([type], unknown)).toEqual({
      type: 'Conflict',
      status: 'True',
      reason: 'PortConflict,TypeConflict,LabelsConflict',
      message: "different type in c3; conflicts stay while c4 can't be read",
    });
  });

  it('drops reasons that no longer hold once all are known', () => {
    expect(conflictCondition([], { oldest: 'c1', unknown: [], present: ['PortConflict'] })).toEqual(noConflicts);
  });
});

describe('exportConditions', () => {
  const conflict: DesiredCondition = { type: 'Conflict', status: 'True', reason: 'PortConflict', message: '' };
  const of = (...args: Parameters<typeof exportConditions>) =>
    exportConditions(...args).map(({ type, status, reason }) => `${type} ${status} ${reason}`);

  it.each([
    {
      own: { service: 'exported' } as const,
      want: ['Valid True Valid', 'Ready True Ready', 'Conflict True PortConflict'],
    },
    {
      own: { service: 'missing' } as const,
      want: ['Valid False NoService', 'Ready False Pending', 'Conflict False NoConflicts'],
    },
    {
      own: { service: 'external-name' } as const,
      want: ['Valid False InvalidServiceType', 'Ready False Pending', 'Conflict False NoConflicts'],
    },
    {
      own: { service: 'skipped', detail: 'it has an invalid port' } as const,
      want: ['Valid True Valid', 'Ready False Failed', 'Conflict False NoConflicts'],
    },
  ])('of an export whose Service is $own.service: $want (R13)', ({ own, want }) => {
    expect(of(own, conflict)).toEqual(want);
  });

  it.each([
    { service: 'exported' },
    { service: 'missing' },
    { service: 'external-name' },
    { service: 'skipped', detail: 'it has an invalid port' },
  ] as const)('is recognized as ours: $service', (own) => {
    const others = { type: 'Programmed', status: 'True', reason: 'Yes', message: '' } as const;
    const written = conditionChange([], [others, ...exportConditions(own, conflict)], 't')!;
    expect(withoutOurs(written)).toEqual([written[0]]);
    expect(withoutOurs(written.map((each) => ({ ...each, message: 'of another program' })))).toBeUndefined();
  });

  it('says why a Service is skipped', () => {
    const [, ready] = exportConditions({ service: 'skipped', detail: 'it has an invalid port' }, conflict);
    expect(ready?.message).toBe('the Service is not exported: it has an invalid port');
  });
});

describe('conflictReasons', () => {
  it.each([
    { conditions: [], want: [] },
    { conditions: [{ ...noConflicts, status: 'True', reason: 'A,B' }], want: ['A', 'B'] },
    { conditions: [noConflicts], want: [] },
    { conditions: [{ ...noConflicts, type: 'Ready', status: 'True', reason: 'Ready' }], want: [] },
  ])('of $conditions: $want', ({ conditions, want }) => {
    const complete = conditions.map((each) => ({ ...each, observedGeneration: undefined, lastTransitionTime: '' }));
    expect(conflictReasons(complete)).toEqual(want);
  });
});

describe('conditionChange', () => {
  const ready: DesiredCondition = { type: 'Ready', status: 'True', reason: 'Ready', message: '' };
  const at = '2026-02-02T00:00:00Z';
  const before = '2026-01-01T00:00:00Z';
  const observed = (condition: object, more = {}): Condition => ({
    ...ready,
    ...condition,
    observedGeneration: undefined,
    lastTransitionTime: before,
    ...more,
  });

  it('is nothing if status, reason and message are the same', () => {
    expect(conditionChange([observed({}, { observedGeneration: 3 })], [ready], at)).toBeUndefined();
  });

  it.each([
    { what: 'a new condition', from: [], time: at },
    { what: 'another status', from: [observed({ status: 'False' })], time: at },
    { what: 'another reason', from: [observed({ reason: 'Exported' })], time: before },
    { what: 'another message', from: [observed({ message: 'old' })], time: before },
  ])('has a new time for $what only if the status changes', ({ from, time }) => {
    expect(conditionChange(from, [ready], at)).toEqual([observed({}, { lastTransitionTime: time })]);
  });

  it('keeps the conditions of others', () => {
    const foreign = observed({ type: 'example.com/Checked' }, { observedGeneration: 7 });
    expect(conditionChange([foreign], [ready], at)).toEqual([foreign, observed({}, { lastTransitionTime: at })]);
  });
});
