// Answers weather.json.

export function getWeather({ location, unit = 'celsius' }: { location: string; unit?: 'celsius' | 'fahrenheit' }) {
  const celsius = location === 'San Francisco' ? 14.5 : 20;
  return unit === 'celsius'
    ? { temperature: celsius, unit: 'C', description: 'fog' }
    : { temperature: celsius * 1.8 + 32, unit: 'F', description: 'fog' };
}
