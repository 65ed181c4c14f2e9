import { describe, expect, it } from 'vitest';
import { parseFieldSelector } from './field-selector.ts';

const fields = { 'metadata.name': 'a', 'status.phase': '' };

describe('parseFieldSelector', () => {
  it.each([
    { selector: '', want: true },
    { selector: 'metadata.name=a', want: true },
    { selector: 'metadata.name==b', want: false },
    { selector: 'metadata.name!=b', want: true },
    { selector: 'status.phase=', want: true },
    { selector: 'metadata.name=a,status.phase!=', want: false },
    { selector: 'metadata.name', want: "invalid selector: 'metadata.name'; can't understand 'metadata.name'" },
    { selector: 'spec.x=1', want: 'field label not supported: spec.x' },
  ])('$selector: $want', ({ selector, want }) => {
    const parsed = parseFieldSelector(selector, Object.keys(fields));
    expect(parsed.ok ? parsed.value(fields) : parsed.reason).toBe(want);
  });
});
