// @capabilities/weather.d.ts
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
