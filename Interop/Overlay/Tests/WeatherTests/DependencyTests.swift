import Foundation
import FoundationNetworking
import HTTPTypes
import HTTPTypesFoundation
import OpenCombine
import OpenCombineFoundation
import Testing
import Weather

@Suite("Dependencies that import FoundationNetworking")
struct DependencyTests {
    @Test("swift-http-types bridges its values to ours")
    func httpTypes() async throws {
        let request = HTTPRequest(method: .get, scheme: "http", authority: "weather.test", path: "/Cairo")
        let (data, response) = try await WeatherProtocol.session.data(for: request)
        #expect(response.status == .ok)
        #expect(try JSONDecoder().decode(Forecast.self, from: data).place == "Cairo")
        #expect(URLRequest(httpRequest: request)?.url?.absoluteString == "http://weather.test/Cairo")
    }

    @Test("OpenCombine publishes the result of our session")
    func openCombine() async throws {
        let url = try #require(URL(string: "http://weather.test/Quito"))
        var subscription: AnyCancellable?
        let data = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Data, any Error>) in
            subscription = WeatherProtocol.session.ocombine.dataTaskPublisher(for: url).sink(
                receiveCompletion: { if case .failure(let error) = $0 { continuation.resume(throwing: error) } },
                receiveValue: { continuation.resume(returning: $0.data) })
        }
        withExtendedLifetime(subscription) {}
        #expect(try JSONDecoder().decode(Forecast.self, from: data).place == "Quito")
    }
}
