// The package manager builds no target without a source.
#include "GKPeerPickerController.h"
#include "GKPublicConstants.h"
#include "GKPublicProtocols.h"
#include "GKSession.h"
#include "GKSessionError.h"
