import Foundation
import Weather

let forecast = try await WeatherClient(session: WeatherProtocol.session).forecast(for: "Oslo")
let content = try String(contentsOf: URL(string: "data:,hello")!, encoding: .utf8)
print("\(WeatherClient.module): \(forecast.place) \(forecast.degrees), \(content)")
