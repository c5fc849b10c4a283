//! The three `.d.ts` that the specification prints.

use crate::emit::models;
use capability_gen::emit::dts::dts;

/// Removes what the specification's declarations lack: comments, and array methods on a promise of a list.
fn as_printed(dts: &str) -> String {
    let kept = dts.lines().filter(|line| !line.trim_start().starts_with("/**"));
    kept.map(|line| line.replace("CapabilityPromise<", "Promise<") + "\n").collect()
}

#[test]
fn train_schedule_is_as_printed() {
    let text = dts(&models::train_schedule());
    assert_eq!(
        as_printed(&text),
        "\
declare module '@capabilities/train-schedule' {
  export interface Trip {
    id: string;
    hour: number;
    minute: number;
    destination: string;
    platform: string;
  }

  export interface TrainDetails {
    id: string;
    operator: string;
    stops: string[];
  }

  export interface GetScheduleParams {
    station?: string;
    date?: string;
  }

  export interface GetTrainDetailsParams {
    trainId: string;
  }

  export const trainSchedule: {
    getSchedule(params?: GetScheduleParams): Promise<Trip[]>;
    getTrainDetails(params: GetTrainDetailsParams): Promise<TrainDetails>;
  };
}
"
    );
    for line in [
        "  /** Get train schedule information */\n  export const trainSchedule: {\n",
        "    /** Filter by station name */\n    station?: string;\n",
        "    /** Get all scheduled trains */\n    getSchedule(params?: GetScheduleParams): CapabilityPromise<Trip[]>;\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

#[test]
fn weather_is_as_printed() {
    assert_eq!(
        as_printed(&dts(&models::weather())),
        "\
declare module '@capabilities/weather' {
  export interface GetWeatherParams {
    location: string;
    unit?: 'celsius' | 'fahrenheit';
  }

  export interface WeatherResult {
    temperature: number;
    unit: string;
    description: string;
  }

  export function getWeather(params: GetWeatherParams): Promise<WeatherResult>;
}
"
    );
}

/// Simple parameters are inlined in the signature.
#[test]
fn slack_is_as_printed() {
    assert_eq!(
        as_printed(&dts(&models::slack())),
        "\
declare module '@capabilities/mcp-slack' {
  export interface Channel {
    id: string;
    name: string;
  }

  export interface Message {
    channel: string;
    text: string;
    ts: string;
  }

  export const slack: {
    listChannels(): Promise<Channel[]>;
    postMessage(params: { channel: string; text: string }): Promise<Message>;
    getChannelHistory(params: { channel: string; limit?: number }): Promise<Message[]>;
  };
}
"
    );
}
