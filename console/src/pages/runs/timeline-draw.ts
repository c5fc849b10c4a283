/** Drawing of the timeline: bars of calls in lanes on an axis of time. Work is bounded by pixels, not by calls. */

import { duration } from '../../lib/format';
import { visible } from '../../lib/text';
import { FAILED, OPEN, WAITS, type RunLog } from './run-log';
import type { TimeScale } from './time-scale';

export interface View {
  /** Places on the scale at the left and right edge. */
  from: number;
  to: number;
  width: number;
  scale: TimeScale;
}

/** Pixels of times. */
function pixels({ from, to, width, scale }: View): (time: number) => number {
  const each = width / (to - from);
  return scale.gaps.length === 0 ? (time) => (time - from) * each : (time) => (scale.place(time) - from) * each;
}

export interface Colors {
  text: string;
  muted: string;
  line: string;
  surface: string;
  pause: string;
  focus: string;
  mono: string;
  /** By the state of a call: [bar, soft bar, text]. */
  states: [string, string, string][];
  console: string;
}

export const AXIS = 22;
export const STRIP = 14;
const MAX_HEIGHT = 300;
/** Lanes beyond those that fit are drawn in the last one. */
const MIN_LANE = 3;

export function laneHeight(lanes: number): number {
  return Math.min(20, Math.max(MIN_LANE, Math.floor(MAX_HEIGHT / Math.max(1, lanes))));
}

export function shownLanes(lanes: number): number {
  return Math.max(1, Math.min(lanes, Math.floor(MAX_HEIGHT / laneHeight(lanes))));
}

export function heightOf(lanes: number): number {
  return AXIS + shownLanes(lanes) * laneHeight(lanes) + 6 + STRIP;
}

export function colorsOf(element: Element): Colors {
  const style = getComputedStyle(element);
  const color = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const state = (name: string): [string, string, string] => [color(name), color(`${name}-soft`), color(`${name}-text`)];
  return {
    text: color('text'),
    muted: color('muted'),
    line: color('line'),
    surface: color('surface'),
    pause: color('surface-2'),
    focus: color('focus'),
    mono: color('mono') || 'monospace',
    states: [state('good'), state('info'), state('warn'), state('bad')],
    console: color('muted'),
  };
}

/** Distances of the marks on the axis, in milliseconds. */
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 300_000, 900_000, 1_800_000, 3_600_000, 10_800_000, 21_600_000, 86_400_000, 604_800_000];

/** Time since the start, with as many digits as tell neighbors apart: `12.4 s`, `1:44.250`. */
export function axisText(at: number, step: number): string {
  if (at === 0) return '0';
  if (step >= 1000 || at < 1000) return duration(Math.round(at * 1000) / 1000);
  const digits = step >= 100 ? 1 : step >= 10 ? 2 : 3;
  if (at < 60_000) return `${(at / 1000).toFixed(digits)} s`;
  const minutes = Math.floor(at / 60_000);
  const seconds = (at / 1000 - minutes * 60).toFixed(digits).padStart(3 + digits, '0');
  return minutes < 60 ? `${minutes}:${seconds}` : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${seconds}`;
}

function axis(context: CanvasRenderingContext2D, view: View, origin: number, height: number, colors: Colors): void {
  const span = view.to - view.from;
  const step = STEPS.find((one) => (one / span) * view.width >= 90) ?? 604_800_000 * 4;
  const x = pixels(view);
  context.font = `11px ${colors.mono}`;
  context.textBaseline = 'middle';
  const until = view.scale.time(view.to);
  let at = Math.ceil((view.scale.time(view.from) - origin) / step) * step;
  let free = -1;
  for (let n = 0; origin + at <= until && n < 500; at += step, n++) {
    // Marks within a shortened gap would lie on each other.
    const gap = view.scale.gaps.find((one) => origin + at > one.from && origin + at < one.to);
    if (gap) {
      at = Math.max(at, Math.floor((gap.to - origin) / step) * step);
      continue;
    }
    const left = Math.round(x(origin + at)) + 0.5;
    context.fillStyle = colors.line;
    context.fillRect(left, AXIS - 4, 1, height - AXIS + 4);
    const text = axisText(at, step);
    const { width } = context.measureText(text);
    if (left + 4 + width > view.width || left < free) continue;
    context.fillStyle = colors.muted;
    context.fillText(text, left + 4, AXIS / 2);
    free = left + width + 12;
  }
}

/** Shortened gaps: a band with the time that it stands for. */
function gaps(context: CanvasRenderingContext2D, view: View, height: number, colors: Colors): void {
  const each = view.width / (view.to - view.from);
  context.font = `11px ${colors.mono}`;
  context.textBaseline = 'middle';
  for (const gap of view.scale.gaps) {
    const x0 = (gap.at - view.from) * each;
    const x1 = x0 + view.scale.short * each;
    if (x1 < 0 || x0 > view.width) continue;
    context.fillStyle = colors.line;
    for (let y = AXIS; y < height; y += 6) {
      context.fillRect(x0, y, 1, 3);
      context.fillRect(x1, y, 1, 3);
    }
    const text = `⋯ ${duration(gap.to - gap.from)}`;
    const { width } = context.measureText(text);
    if (width + 6 > x1 - x0) continue;
    const middle = Math.min(Math.max((x0 + x1) / 2, width / 2 + 2), view.width - width / 2 - 2);
    context.fillStyle = colors.surface;
    context.fillRect(middle - width / 2 - 3, 0, width + 6, AXIS - 4);
    context.fillStyle = colors.muted;
    context.fillText(text, middle - width / 2, AXIS / 2);
  }
}

function pauses(context: CanvasRenderingContext2D, log: RunLog, view: View, now: number, height: number, colors: Colors): void {
  const x = pixels(view);
  context.fillStyle = colors.pause;
  for (const pause of log.pauses) {
    const x0 = Math.max(0, x(pause.from));
    const x1 = Math.min(view.width, x(pause.to ?? now));
    if (x1 > x0) context.fillRect(x0, AXIS, x1 - x0, height - AXIS);
  }
}

interface Bar {
  call: number;
  x0: number;
  x1: number;
  row: number;
}

/** Draws bars of one or two pixels at once, and returns those that are wide. */
function bars(context: CanvasRenderingContext2D, log: RunLog, view: View, now: number, colors: Colors): Bar[] {
  const place = pixels(view);
  const [earliest, latest] = [view.scale.time(view.from), view.scale.time(view.to)];
  const each = laneHeight(log.lanes);
  const rows = shownLanes(log.lanes);
  const gap = each > 5 ? 2 : each > 3 ? 1 : 0;
  const start = log.start.data;
  const end = log.end.data;
  const state = log.state.data;
  const lane = log.lane.data;
  const wide: Bar[] = [];
  /** For every pixel of every lane, the highest state of the calls there, plus one. */
  const width = Math.max(1, Math.ceil(view.width));
  const cells = new Uint8Array(rows * width);
  for (let call = 0; call < log.calls; call++) {
    const from = start[call] as number;
    const until = Number.isNaN(end[call] as number) ? now : (end[call] as number);
    if (until < earliest || from > latest) continue;
    const x0 = Math.max(-2, place(from));
    const x1 = Math.min(view.width + 2, place(until));
    const row = Math.min(lane[call] as number, rows - 1);
    if (x1 - x0 >= 4 && each >= 6) {
      wide.push({ call, x0, x1, row });
      continue;
    }
    const value = (state[call] as number) + 1;
    const last = Math.min(width - 1, Math.max(Math.floor(x0), Math.ceil(x1) - 1));
    for (let x = Math.max(0, Math.floor(x0)); x <= last; x++) {
      const cell = row * width + x;
      if (value > (cells[cell] as number)) cells[cell] = value;
    }
  }
  // Equal neighbors are one rectangle.
  for (let row = 0; row < rows; row++) {
    const y = AXIS + row * each + gap / 2;
    for (let x = 0; x < width; ) {
      const value = cells[row * width + x] as number;
      let to = x + 1;
      while (to < width && cells[row * width + to] === value) to++;
      if (value > 0) {
        context.fillStyle = colors.states[value - 1]?.[0] ?? colors.muted;
        context.fillRect(x, y, to - x, Math.max(1, each - gap));
      }
      x = to;
    }
  }
  return wide;
}

function wideBars(context: CanvasRenderingContext2D, log: RunLog, wide: Bar[], colors: Colors): void {
  const each = laneHeight(log.lanes);
  for (const { call, x0, x1, row } of wide) {
    const y = AXIS + row * each + 1;
    const high = each - 2;
    const [strong, soft] = colors.states[log.state.at(call)] ?? [colors.muted, colors.pause];
    const width = Math.max(2, x1 - x0 - 1);
    context.fillStyle = soft;
    context.fillRect(x0, y, width, high);
    context.fillStyle = strong;
    context.fillRect(x0, y, 3, high);
    context.fillRect(x0, y + high - 2, width, 2);
  }
}

/** Names in the bars that have room for them, above the stripes of waits. */
function names(context: CanvasRenderingContext2D, log: RunLog, wide: Bar[], colors: Colors): void {
  const each = laneHeight(log.lanes);
  if (each < 14) return;
  context.font = `11px ${colors.mono}`;
  context.textBaseline = 'middle';
  for (const { call, x0, x1, row } of wide) {
    const left = Math.max(0, x0) + 6;
    const room = Math.floor((Math.min(x1, left + 400) - left - 4) / 6.7);
    if (room < 4) continue;
    const y = AXIS + row * each + 1;
    const [, soft, color] = colors.states[log.state.at(call)] ?? [colors.muted, colors.pause, colors.text];
    const whole = visible(log.functionOf(call)?.label ?? '').replace(/\s/g, ' ');
    const name = whole.length > room ? `${whole.slice(0, room - 1)}…` : whole;
    context.fillStyle = soft;
    context.fillRect(left - 2, y, context.measureText(name).width + 4, each - 4);
    context.fillStyle = color;
    context.fillText(name, left, y + (each - 2) / 2);
  }
}

/** Stripes over the part of a call that waits for a person. */
function waits(context: CanvasRenderingContext2D, log: RunLog, view: View, now: number, colors: Colors): void {
  const place = pixels(view);
  const each = laneHeight(log.lanes);
  const rows = shownLanes(log.lanes);
  const color = colors.states[WAITS]?.[0] ?? colors.muted;
  for (const wait of log.waits) {
    const x0 = Math.max(0, place(wait.from));
    const x1 = Math.min(view.width, place(wait.to ?? now));
    if (x1 < 0 || x0 > view.width) continue;
    const y = AXIS + Math.min(log.lane.at(wait.call), rows - 1) * each + 1;
    context.fillStyle = color;
    context.globalAlpha = 0.45;
    for (let x = Math.round(x0); x < x1; x += 6) context.fillRect(x, y, Math.min(2, x1 - x), Math.max(1, each - 2));
    context.globalAlpha = 1;
  }
}

function consoleStrip(context: CanvasRenderingContext2D, log: RunLog, view: View, height: number, colors: Colors): void {
  const place = pixels(view);
  const times = log.lineAt.data;
  const levels = log.lineLevel.data;
  let last = -1;
  let lastLevel = -1;
  for (let i = 0; i < log.lines; i++) {
    const x = Math.floor(place(times[i] as number));
    if (x < 0 || x > view.width) continue;
    const level = levels[i] === 3 ? 2 : levels[i] === 2 ? 1 : 0;
    if (x === last && level <= lastLevel) continue;
    last = x;
    lastLevel = level;
    context.fillStyle = level === 2 ? (colors.states[FAILED]?.[0] ?? colors.console) : level === 1 ? (colors.states[WAITS]?.[0] ?? colors.console) : colors.console;
    context.fillRect(x, height - STRIP + 3, 2, STRIP - 6);
  }
}

function marks(context: CanvasRenderingContext2D, log: RunLog, view: View, height: number, colors: Colors): void {
  const place = pixels(view);
  for (const mark of log.marks) {
    if (mark.kind === 'started' || mark.kind === 'repeated') continue;
    const x = Math.round(place(mark.at));
    if (x < -2 || x > view.width + 2) continue;
    context.fillStyle = colors.states[mark.kind === 'finished' ? 0 : FAILED]?.[0] ?? colors.text;
    context.fillRect(Math.min(x, view.width - 2), AXIS - 6, 2, height - AXIS + 6);
  }
}

export function draw(context: CanvasRenderingContext2D, log: RunLog, view: View, now: number, selected: number, colors: Colors): void {
  const height = heightOf(log.lanes);
  context.clearRect(0, 0, view.width, height);
  if (Number.isNaN(log.first) || view.to <= view.from) return;
  pauses(context, log, view, now, height, colors);
  axis(context, view, log.first, height, colors);
  gaps(context, view, height, colors);
  const wide = bars(context, log, view, now, colors);
  wideBars(context, log, wide, colors);
  waits(context, log, view, now, colors);
  names(context, log, wide, colors);
  consoleStrip(context, log, view, height, colors);
  marks(context, log, view, height, colors);
  const today = pixels(view)(now);
  if (!log.ended && today <= view.width) {
    context.fillStyle = colors.states[OPEN]?.[0] ?? colors.text;
    context.fillRect(Math.min(view.width - 1, today), AXIS, 1, height - AXIS);
  }
  if (selected >= 0 && selected < log.calls) frame(context, log, view, now, selected, colors);
}

function frame(context: CanvasRenderingContext2D, log: RunLog, view: View, now: number, call: number, colors: Colors): void {
  const place = pixels(view);
  const each = laneHeight(log.lanes);
  const end = log.end.at(call);
  const x0 = place(log.start.at(call));
  const x1 = place(Number.isNaN(end) ? now : end);
  if (x1 < 0 || x0 > view.width) return;
  const row = Math.min(log.lane.at(call), shownLanes(log.lanes) - 1);
  context.strokeStyle = colors.focus;
  context.lineWidth = 2;
  const left = Math.max(-4, x0 - 1);
  context.strokeRect(left, AXIS + row * each, Math.max(4, Math.min(view.width + 4, x1 + 1) - left), each);
}

/** Call at a point of the canvas; the nearest one within some pixels. */
export function callAt(log: RunLog, view: View, now: number, x: number, y: number): number {
  const each = laneHeight(log.lanes);
  const rows = shownLanes(log.lanes);
  const wanted = Math.floor((y - AXIS) / each);
  if (wanted < 0 || wanted >= rows) return -1;
  const place = pixels(view);
  let best = -1;
  let distance = 4;
  for (let call = 0; call < log.calls; call++) {
    if (Math.min(log.lane.at(call), rows - 1) !== wanted) continue;
    const end = log.end.at(call);
    const x0 = place(log.start.at(call));
    const x1 = place(Number.isNaN(end) ? now : end);
    const away = x < x0 ? x0 - x : x > x1 ? x - x1 : 0;
    if (away < distance || (away === 0 && distance === 0 && log.state.at(call) === FAILED)) {
      best = call;
      distance = away;
    }
  }
  return best;
}
