import CausewayObservability
import Logging
import Testing

@Suite("A program with CausewayObservability alone")
struct SingleImportTests {
    @Test("It names the configuration to which observers belong")
    func names() {
        let configuration: URLSessionConfiguration = .ephemeral
        configuration.taskObservers = [URLSessionLogObserver(logger: Logger(label: "test"))]
        #expect(configuration.taskObservers.count == 1)
    }
}
