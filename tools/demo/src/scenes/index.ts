import type { Ability } from '../stage/ability.ts';
import type { Scene } from '../stage/stage.ts';
import { departure } from './departure.ts';
import { globals } from './globals.ts';
import { mirrors } from './mirrors.ts';
import { otherDirection } from './other-direction.ts';
import { outage } from './outage.ts';
import { scaling } from './scaling.ts';
import { succession } from './succession.ts';
import { wholeSystem } from './system.ts';
import { tunnelPlan } from './tunnel-plan.ts';
import { tunnels } from './tunnels.ts';
import { vandalism } from './vandalism.ts';

/** What is played on a machine, in this order, each scene on the stage that the one before it left. */
export const scenesFor = ({ ability, real }: { readonly ability: Ability; readonly real: boolean }): readonly Scene[] => [
  ...scaling,
  ...otherDirection,
  ...vandalism,
  ...outage,
  ...succession,
  ...departure,
  ...mirrors,
  ...globals,
  ...(ability.kind === 'tunnels' ? tunnels(ability) : tunnelPlan(ability)),
  ...(real && ability.kind === 'tunnels' ? wholeSystem() : []),
];
