import Foundation
import Weather
import XCTest

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

final class WeatherXCTests: XCTestCase {
    func testModule() { XCTAssertEqual(WeatherClient.module, "CausewayURLLoading") }

    func testHandler() {
        let done = expectation(description: "handler")
        let task = WeatherProtocol.session.dataTask(with: URL(string: "http://weather.test/Lima")!) {
            data, response, error in
            XCTAssertNil(error)
            XCTAssertEqual((response as? HTTPURLResponse)?.statusCode, 200)
            XCTAssertEqual(data.flatMap { try? JSONDecoder().decode(Forecast.self, from: $0) }?.place, "Lima")
            done.fulfill()
        }
        task.resume()
        wait(for: [done], timeout: 3_600)
    }
}
