extension NWInterface {
    /// The radio technology of a wireless interface.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public enum RadioType: Sendable {
        /// A Wi-Fi radio.
        case wifi(NWInterface.RadioType.WiFi)
        /// A cellular radio.
        case cell(NWInterface.RadioType.Cellular)

        /// The IEEE 802.11 generation.
        public enum WiFi: Sendable {
            /// 802.11b.
            case b
            /// 802.11a.
            case a
            /// 802.11g.
            case g
            /// 802.11n, also called Wi-Fi 4.
            case n
            /// 802.11ac, also called Wi-Fi 5.
            case ac
            /// 802.11ax, also called Wi-Fi 6.
            case ax
        }

        /// The cellular network technology.
        public enum Cellular: Sendable {
            /// LTE, the fourth generation.
            case lte
            /// 5G with an LTE anchor (non-standalone).
            case dualConnectivity5G(NWInterface.RadioType.Cellular.NewRadio5GVariant)
            /// 5G standalone.
            case standalone5G(NWInterface.RadioType.Cellular.NewRadio5GVariant)
            /// WCDMA, the third generation.
            case wcdma
            /// GSM, the second generation.
            case gsm
            /// CDMA 1x.
            case cdma
            /// CDMA EV-DO.
            case evdo

            /// The frequency range of a 5G radio.
            public enum NewRadio5GVariant: Sendable {
                /// Below 6 GHz.
                case sub6GHz
                /// Millimetre waves.
                case mmWave
            }
        }
    }
}
