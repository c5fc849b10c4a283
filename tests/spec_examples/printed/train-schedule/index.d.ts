// Generated: @capabilities/train-schedule.d.ts

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
