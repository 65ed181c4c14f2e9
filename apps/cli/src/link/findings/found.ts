import type { Read } from '../../clusters/objects.ts';
import type { Answers } from '../answers.ts';
import { CHOICES_FILE } from '../choices.ts';
import type { Observed } from './observe.ts';

/** One thing that was found out, and where. */
export type Found<T> = { readonly value: T; readonly source: string };

/** The same; or why it is not known, with what to do. */
export type Sought<T> = Read<Found<T>>;

/** What tells what a cluster is like. */
export type Clues = {
  readonly observed: Observed;
  /** Of this run or an earlier one. */
  readonly answers: Answers;
  /** Those of this run. */
  readonly given: Answers;
};

export const found = <T>(value: T, source: string): Sought<T> => ({ known: true, value: { value, source } });

export const notFound = (why: string): Sought<never> => ({ known: false, why });

/** What the user says. @param given the same answer, if it is of this run */
export const answerOf = <T>(answer: T | false | undefined, given: unknown, flag: string): Found<T> | undefined =>
  answer === undefined || answer === false
    ? undefined
    : { value: answer, source: given === undefined ? CHOICES_FILE : flag };
