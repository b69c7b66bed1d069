import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A weather forecast from a service.
public struct Forecast: Codable, Equatable, Sendable {
    public var place: String
    public var degrees: Double
}

/// A client that asks a weather service for forecasts.
public struct WeatherClient: Sendable {
    private let session: URLSession

    public init(session: URLSession = .shared) { self.session = session }

    /// The name of the module that defines `URLSession`.
    public static var module: String {
        String(reflecting: URLSession.self).split(separator: ".").first.map(String.init) ?? ""
    }

    public func forecast(for place: String) async throws -> Forecast {
        var request = URLRequest(url: URL(string: "http://weather.test/\(place)")!)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let (data, response) = try await session.data(for: request)
        guard let http = response as? HTTPURLResponse, http.statusCode == 200 else {
            throw URLError(.badServerResponse)
        }
        return try JSONDecoder().decode(Forecast.self, from: data)
    }
}

/// Answers the client's requests in the process, without a network.
public final class WeatherProtocol: URLProtocol, @unchecked Sendable {
    override public class func canInit(with request: URLRequest) -> Bool { request.url?.host == "weather.test" }
    override public class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override public func startLoading() {
        guard let url = request.url,
            let content = try? JSONEncoder().encode(Forecast(place: url.lastPathComponent, degrees: 21)),
            let response = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["Content-Type": "application/json"])
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: content)
        client?.urlProtocolDidFinishLoading(self)
    }

    override public func stopLoading() {}

    /// A session whose requests this protocol answers.
    public static var session: URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Self.self]
        return URLSession(configuration: configuration)
    }
}
