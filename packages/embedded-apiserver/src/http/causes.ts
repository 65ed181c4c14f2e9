import type { Cause } from './status.ts';

// The kinds of refusal in `details.causes`, worded as kube-apiserver's field.Error does.

/** A value that breaks a rule. */
export const invalidValue = (field: string, value: unknown, why: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
  field,
});

/** A field that is missing. */
export const required = (field: string, why = ''): Cause => ({
  reason: 'FieldValueRequired',
  message: why === '' ? 'Required value' : `Required value: ${why}`,
  field,
});

/** A duplicate value. */
export const duplicate = (field: string, value: unknown): Cause => ({
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${JSON.stringify(value)}`,
  field,
});

/** A text that is too long. */
export const tooLong = (field: string, most: number): Cause => ({
  reason: 'FieldValueTooLong',
  message: `Too long: may not be more than ${most} bytes`,
  field,
});

/** A list that is too long. */
export const tooMany = (field: string, actual: number, most: number): Cause => ({
  reason: 'FieldValueTooMany',
  message: `Too many: ${actual}: must have at most ${most} items`,
  field,
});

/** A field that is forbidden. */
export const forbiddenValue = (field: string, why: string): Cause => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${why}`,
  field,
});

/** A value that isn't one of the supported ones. */
export const notSupported = (field: string, value: unknown, supported: readonly string[]): Cause => ({
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((each) => JSON.stringify(each)).join(', ')}`,
  field,
});
