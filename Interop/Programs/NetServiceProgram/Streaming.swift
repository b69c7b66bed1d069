import CausewayBonjour
import CausewayURLLoading
import Foundation

/// Connects a stream task to an echo service by the service's name. The task looks up the service.
enum Streaming {
    static func talk(to name: String) async throws {
        let task = URLSession.shared.streamTask(with: NetService(domain: "", type: "_nwecho._tcp.", name: name))
        task.resume()
        try await task.write(Data("hello".utf8), timeout: 20)
        let (data, _) = try await task.readData(ofMinLength: 5, maxLength: 64, timeout: 20)
        report("heard \(String(decoding: data ?? Data(), as: UTF8.self))")
    }
}
