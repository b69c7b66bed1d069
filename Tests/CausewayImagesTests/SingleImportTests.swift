import CausewayImages
import Foundation
import Testing

@Suite("A program with CausewayImages alone")
struct SingleImportTests {
    @Test("It names sessions, their errors, and bitmaps")
    func names() {
        let settings: URLSessionConfiguration = .ephemeral
        let session = URLSession(configuration: settings)
        var configuration = ImageLoader.Configuration()
        configuration.observesMemoryPressure = false
        configuration.attemptCount = 2
        let loader = ImageLoader(session: session, configuration: configuration)
        #expect(loader.configuration.attemptCount == 2)
        let isTimeout: (any Error) -> Bool = { ($0 as? URLError)?.code == .timedOut }
        #expect(isTimeout(URLError(.timedOut)))
        #expect(ImageLimits() == loader.configuration.limits)
        session.invalidateAndCancel()
    }
}
