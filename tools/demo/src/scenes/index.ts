import type { Scene } from '../stage/stage.ts';
import { departure } from './departure.ts';
import { globals } from './globals.ts';
import { mirrors } from './mirrors.ts';
import { otherDirection } from './other-direction.ts';
import { outage } from './outage.ts';
import { scaling } from './scaling.ts';
import { succession } from './succession.ts';
import { vandalism } from './vandalism.ts';

/** What is played, in this order, each scene on the stage that the one before it left. */
export const scenes: readonly Scene[] = [
  ...scaling,
  ...otherDirection,
  ...vandalism,
  ...outage,
  ...succession,
  ...departure,
  ...mirrors,
  ...globals,
];
