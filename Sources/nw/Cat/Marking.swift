import ArgumentParser
import Causeway

/// The values for `--traffic-class`.
enum TrafficClass: String, CaseIterable, ExpressibleByArgument {
    case bestEffort = "best-effort"
    case background
    case interactiveVideo = "interactive-video"
    case interactiveVoice = "interactive-voice"
    case responsiveData = "responsive-data"
    case signaling

    var value: NWParameters.ServiceClass {
        switch self {
        case .bestEffort: .bestEffort
        case .background: .background
        case .interactiveVideo: .interactiveVideo
        case .interactiveVoice: .interactiveVoice
        case .responsiveData: .responsiveData
        case .signaling: .signaling
        }
    }
}

/// The values for `--ecn` (RFC 3168 §5).
enum CongestionMark: String, CaseIterable, ExpressibleByArgument {
    case ect0
    case ect1
    case ce

    var value: NWProtocolIP.ECN {
        switch self {
        case .ect0: .ect0
        case .ect1: .ect1
        case .ce: .ce
        }
    }
}
