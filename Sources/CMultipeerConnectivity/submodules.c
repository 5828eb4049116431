// The package manager builds no target without a source.
#include "MCAdvertiserAssistant.h"
#include "MCBrowserViewController.h"
#include "MCError.h"
#include "MCNearbyServiceAdvertiser.h"
#include "MCNearbyServiceBrowser.h"
#include "MCPeerID.h"
#include "MCSession.h"
